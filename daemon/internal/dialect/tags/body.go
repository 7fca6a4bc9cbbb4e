package tags

import "strings"

// ending is where the body of a call ends, and by what.
type ending struct {
	body   Range
	next   int   // where reading goes on
	kind   Kind  // what is warned of; empty when it was closed by its own name
	by     *tool // of Mismatched: the name that it was closed by
	first  bool  // of Unclosed: it ends where its tool was closed first, and not with the answer
	before bool  // of Unclosed: it ends before the next tag of a tool
	lost   bool  // of Unclosed: tags of tools are in it that would be calls
}

// bodyScan is the search for the end of one body.
type bodyScan struct {
	*Reader
	tool    *tool
	from    int
	content int  // where something stands in it
	open    int  // how many tags of tools are open
	first   int  // the first tag that closed the tool while it was open again; -1 before it
	tag     int  // the first tag of a tool; -1 before it
	lost    bool // there is one that would be a call
	later   int  // a tag that closes the tool, before which none opens it; 0 when none is looked for yet
	others  bool // one of another tool, and before first, is more than its name, or is closed

	last, begin      int  // where the last region of an edit ends, or the body begins, and the first text from there on
	refused          bool // an edit marker has no end
	shutAt, searched int  // of shutIn: the last tag found, and up to where was searched
}

// body finds the end of the body that begins at from. A body holds whatever stands in it, with tags of tools too as long as each
// of them is closed; what stands between markers, or in backquotes, is not looked at.
func (r *Reader) body(t *tool, from int) ending {
	b := r.scan(t, from)
	for i := from; ; {
		i = b.text.find('<', i)
		if i < 0 || b.text.short {
			return b.unclosed() // what is short is read again
		}
		next, e, over := b.bracket(i)
		if over {
			return e
		}
		i = next
	}
}

func (r *Reader) scan(t *tool, from int) *bodyScan {
	clear(r.nested)
	content := r.text.spaces(from)
	return &bodyScan{Reader: r, tool: t, from: from, content: content, first: -1, tag: -1, last: from, begin: content, shutAt: -1}
}

// bracket looks at an angle bracket of the body: it says where the search goes on, or that the body is over.
func (b *bodyScan) bracket(i int) (next int, e ending, over bool) {
	if b.text.at(i+1) == '<' && b.tool.Markers != NoMarkers {
		if end := b.region(i); end > 0 {
			return end, e, false
		}
		return i + 1, e, false
	}
	if t, end := b.closes(i); t != nil {
		return b.closing(t, i, end)
	}
	if t, behind := b.opens(i); t != nil {
		return b.opening(t, i, behind)
	}
	return i + 1, e, false
}

// closing looks at a tag that closes a tool.
func (b *bodyScan) closing(t *tool, i, end int) (next int, e ending, over bool) {
	switch {
	case end == len(b.text.s) && b.text.s[end-1] != '>':
		return end, b.unclosed(), true // the answer ended in it
	case b.asCode(i, end):
	case b.nested[t.index] > 0 && !b.flat:
		if t == b.tool && b.first < 0 {
			b.first = i
		}
		b.others = b.others || b.beside(t)
		b.nested[t.index]--
		b.open--
	case t == b.tool:
		return end, ending{body: Range{b.from, i}, next: end}, true
	case b.open == 0 && !(b.tool.Markers == HereDocuments && b.closedLater(end)):
		return end, ending{body: Range{b.from, i}, next: end, kind: Mismatched, by: t}, true
	}
	return end, e, false
}

// opening looks at a tag that opens a call elsewhere.
func (b *bodyScan) opening(t *tool, i, behind int) (next int, e ending, over bool) {
	if i == b.content {
		return i, ending{body: Range{b.from, b.from}, next: i, kind: Emptied}, true
	}
	if b.tag < 0 {
		b.tag = i
	}
	if b.tool.Target != "" && b.missing[b.shut()] {
		return i, b.unclosed(), true
	}
	o := b.opener(i, t, behind, false)
	if marker := b.markerIn(i+1, o.end); marker >= 0 {
		return marker, e, false
	}
	if o.cut {
		b.lost = true
		return behind, e, false
	}
	if o.odd || b.asCode(i, o.end) {
		return o.end, e, false
	}
	b.lost = true
	b.others = b.others || o.end > behind+1 && b.beside(t)
	if !o.closed && !o.bare {
		b.nested[t.index]++
		b.open++
	}
	return o.end, e, false
}

// closedLater reports whether the tool is closed from i on before it is opened again: of a command nobody wants the half.
func (b *bodyScan) closedLater(i int) bool {
	for ; i > b.later; i++ {
		if i = b.text.find('<', i); i < 0 {
			return false
		}
		if t, _ := b.opens(i); t == b.tool {
			return false
		}
		if t, _ := b.closes(i); t == b.tool {
			b.later = i
			break
		}
	}
	return true
}

// beside reports whether a tag is of another tool, where nothing has closed the one of the body yet.
func (b *bodyScan) beside(t *tool) bool { return t != b.tool && b.first < 0 }

func (b *bodyScan) shut() string { return "</" + b.tool.Name }

// unclosed is the end of a body that nothing closes.
func (b *bodyScan) unclosed() ending {
	switch {
	case b.first >= 0:
		// From here to the end more is opened than closed, so that nothing tells what belongs to what.
		b.flat = true
		_, end := b.closes(b.first)
		return ending{body: Range{b.from, b.first}, next: end, kind: Unclosed, first: true, lost: b.others}
	case b.tag >= 0 && b.tool.Target != "":
		// Its body is a few words, and no closing tag comes: the next tag is a call of its own.
		b.missing[b.shut()] = b.text.whole
		return ending{body: Range{b.from, b.tag}, next: b.tag, kind: Unclosed, before: true}
	}
	end := len(b.text.s)
	body := withoutCloser(b.text.s[b.from:end], b.tool.Name)
	return ending{body: Range{b.from, b.from + len(body)}, next: end, kind: Unclosed, lost: b.lost}
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
