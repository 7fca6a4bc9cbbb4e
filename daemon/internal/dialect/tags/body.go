package tags

import "strings"

// ending is where the body of a call ends, and by what.
type ending struct {
	body  Range
	next  int   // where reading goes on
	kind  Kind  // what is warned of; empty when it was closed by its own name
	by    *tool // of Mismatched: the name that it was closed by
	first bool  // of Unclosed: it ends where its tool was closed first, and not with the answer
	lost  int   // of Unclosed: how many tags of tools are in it
}

// body finds the end of the body that begins at from. A body holds whatever stands in it, with tags of tools too as long as each
// of them is closed; what stands between markers, or in backquotes, is not looked at.
func (r *Reader) body(t *tool, from int) ending {
	clear(r.nested)
	open, first, tags := 0, -1, 0
	content := r.text.spaces(from) // where something stands in it
	i := from
	for {
		i = r.text.find('<', i)
		if i < 0 || r.text.short {
			break // what is short is read again
		}
		if r.text.at(i+1) == '<' && t.Markers != NoMarkers {
			if end := r.region(t, i, from); end > 0 {
				i = end
			} else {
				i += 2
			}
			continue
		}
		if c, end := r.closes(i); c != nil {
			if end == len(r.text.s) && r.text.s[end-1] != '>' {
				break
			}
			switch {
			case r.asCode(i, end):
			case r.nested[c.index] > 0 && !r.flat:
				if c == t && first < 0 {
					first = i
				}
				r.nested[c.index]--
				open--
			case c == t:
				return ending{body: Range{from, i}, next: end}
			case open == 0:
				return ending{body: Range{from, i}, next: end, kind: Mismatched, by: c}
			}
			i = end
			continue
		}
		if c, behind := r.opens(i); c != nil {
			if i == content {
				return ending{body: Range{from, from}, next: i, kind: Emptied}
			}
			tags++
			o := r.opener(i, c, behind, false)
			if !o.closed && !o.bare && !o.cut && !o.odd && !r.asCode(i, o.end) {
				r.nested[c.index]++
				open++
			}
			if o.cut {
				o.end = behind
			}
			i = o.end
			continue
		}
		i++
	}
	if first >= 0 {
		// From here to the end more is opened than closed, so that nothing tells what belongs to what.
		r.flat = true
		_, end := r.closes(first)
		return ending{body: Range{from, first}, next: end, kind: Unclosed, first: true}
	}
	end := len(r.text.s)
	return ending{body: Range{from, from + len(withoutCloser(r.text.s[from:end], t.Name))}, next: end, kind: Unclosed, lost: tags}
}

// lookBack is how much of a line is looked at for the backquotes before a tag.
const lookBack = 256

// asCode reports whether a tag in a body stands in backquotes, of which the one before it begins code.
func (r *Reader) asCode(from, end int) bool {
	if r.text.at(from-1) != '`' || r.text.at(end) != '`' {
		return false
	}
	line := r.text.s[max(from-lookBack, 0):from]
	r.text.steps += len(line)
	return strings.Count(line[strings.LastIndexByte(line, '\n')+1:], "`")%2 == 1
}

// withoutCloser is a body without the beginning of its closing tag, in which the answer was cut off.
func withoutCloser(body, name string) string {
	i := strings.LastIndexByte(body, '<')
	if i >= 0 && len(body) > i+1 && strings.HasPrefix("</"+name, strings.TrimRight(body[i:], " \t\r\n")) {
		return body[:i]
	}
	return body
}

// trimmed is a body without one line break behind its opener and one before its closer.
func trimmed(s string, body Range) Range {
	text := s[body.Start:body.End]
	if rest, is := strings.CutPrefix(text, "\r\n"); is {
		text = rest
	} else {
		text = strings.TrimPrefix(text, "\n")
	}
	start := body.End - len(text)
	if rest, is := strings.CutSuffix(text, "\r\n"); is {
		text = rest
	} else {
		text = strings.TrimSuffix(text, "\n")
	}
	return Range{start, start + len(text)}
}
