package tags

import "strings"

// opener is a tag that begins a call.
type opener struct {
	tool   *tool
	attrs  []attribute
	from   int  // where it begins
	end    int  // behind it
	closed bool // it is the whole call, as <get path="a"/>
	bare   bool // another tag began before it ended
	cut    bool // the answer ended before it did
	odd    bool // it looks like words between angle brackets
}

// attribute is one of a tag, as it is written.
type attribute struct {
	name, value string
	alone       bool // it has no value
}

// opens is the tool whose tag begins at i, with the place behind its name; nil when none does.
func (r *Reader) opens(i int) (*tool, int) {
	if !r.begins(r.text.at(i + 1)) {
		return nil, 0
	}
	end := r.toolName(i + 1)
	t := r.set.named(r.text.s[i+1 : end])
	if t == nil {
		return nil, 0
	}
	if c := r.text.at(end); space(c) || c == '/' || c == '>' || r.text.ends(end) {
		return t, end
	}
	return nil, 0
}

// closes is the tool that a tag at i closes, with the place behind the tag; nil when it is none. The answer may end in it.
func (r *Reader) closes(i int) (*tool, int) {
	if r.text.at(i+1) != '/' || !r.begins(r.text.at(i+2)) {
		return nil, 0
	}
	end := r.toolName(i + 2)
	t := r.set.named(r.text.s[i+2 : end])
	if t == nil {
		return nil, 0
	}
	end = r.text.spaces(end)
	switch {
	case r.text.at(end) == '>':
		return t, end + 1
	case r.text.ends(end) || r.text.s[end] == '<':
		return t, end
	case letter(r.text.s[end]):
		return r.closesOver(t, end)
	}
	return nil, 0
}

// begins reports whether a byte may begin the name of a tool.
func (r *Reader) begins(c byte) bool { return letter(c) || r.set.qualified && c >= '0' && c <= '9' }

// longestQualified is more than the name of a plugin and that of a tool have together.
const longestQualified = 132

// toolName is the end of the name at i, of a tool. Where one is called by its plugin's name too, that may have other bytes.
func (r *Reader) toolName(i int) int {
	from := i
	i = r.text.name(i)
	for r.set.qualified && i-from < longestQualified && (named(r.text.at(i)) || r.text.at(i) == '-' || r.text.at(i) == '.') {
		i++
	}
	return i
}

// longestCloser is how much may stand in a closing tag behind its name.
const longestCloser = 256

// closesOver is the end of a closing tag that has attributes, as only an opener should: on its line. Nil is that it is none.
func (r *Reader) closesOver(t *tool, i int) (*tool, int) {
	for end := i; end < i+longestCloser; end++ {
		switch c := r.text.at(end); {
		case c == '>':
			return t, end + 1
		case r.text.ends(end), c == '<', c == '\n':
			return nil, 0
		}
	}
	return nil, 0
}

// tagIn is the place of the first tag of a tool from i on and before limit, of either kind; -1 when there is none.
func (r *Reader) tagIn(i, limit int) int {
	for i < limit {
		n := strings.IndexByte(r.text.s[i:limit], '<')
		if n < 0 {
			r.text.steps += limit - i
			return -1
		}
		r.text.steps += n + 1
		i += n
		if r.tag(i) {
			return i
		}
		i++
	}
	return -1
}

// tag reports whether the tag of a tool begins at i, of either kind.
func (r *Reader) tag(i int) bool {
	if t, _ := r.opens(i); t != nil {
		return true
	}
	t, _ := r.closes(i)
	return t != nil
}

// opener reads the tag of a tool that begins at from. Attributes are kept, and repairs of them told, for a call; of a
// tag within a body only the end is wanted.
func (r *Reader) opener(from int, t *tool, i int, call bool) opener {
	o := opener{tool: t, from: from}
	words, valued := 0, 0
	for {
		i = r.text.spaces(i)
		if r.text.ends(i) {
			o.end, o.cut = i, true
			return o
		}
		switch c := r.text.s[i]; {
		case c == '>':
			o.end = i + 1
		case c == '/':
			if end := r.text.spaces(i + 1); r.text.at(end) == '>' {
				o.end, o.closed = end+1, true
				break
			}
			i++
			continue
		case c == '<' && r.tag(i):
			o.end, o.bare = i, true
		case c == '<' || c == '=':
			i++
			continue
		case c == '"' || c == '\'':
			r.repaired(call)
			i++
			continue
		default:
			a, next := r.attribute(i, call)
			if a.alone {
				words++
				if _, known := t.types[a.name]; known {
					valued++
				}
			} else {
				valued++
			}
			if call {
				o.attrs = append(o.attrs, a)
			}
			i = next
			continue
		}
		o.odd = valued == 0 && (words > 1 || words == 1 && o.bare)
		return o
	}
}

// attribute reads the one that begins at i.
func (r *Reader) attribute(i int, call bool) (a attribute, next int) {
	from := i
	for i < len(r.text.s) && !space(r.text.s[i]) && !ended(r.text.s[i]) {
		r.text.steps++
		i++
	}
	r.text.ends(i)
	a.name = r.text.s[from:i]
	is := r.text.spaces(i)
	if r.text.at(is) != '=' {
		a.alone = true
		return a, i
	}
	i = r.text.spaces(is + 1)
	if c := r.text.at(i); c == '"' || c == '\'' {
		q := r.quoted(i+1, c)
		if q.repaired {
			r.repaired(call)
		}
		a.value = r.text.s[i+1 : q.end]
		return a, q.next
	}
	if r.text.has(i, quoteToken) {
		from := i + len(quoteToken)
		if end := r.text.findWord(quoteToken, from); end >= 0 && r.tagIn(from, end) < 0 {
			a.value = r.text.s[from:end]
			return a, end + len(quoteToken)
		}
	}
	if from, end, next := r.otherQuotes(i); next > 0 {
		r.repaired(call)
		a.value = r.text.s[from:end]
		return a, next
	}
	a.value, next = r.unquoted(i, call)
	return a, next
}

// ended reports whether a byte ends the name of an attribute.
func ended(c byte) bool {
	return c == '=' || c == '>' || c == '/' || c == '<' || c == '"' || c == '\''
}

// unquoted reads a value that no quote begins: up to white space or the end of the tag.
func (r *Reader) unquoted(i int, call bool) (value string, next int) {
	from := i
	for i < len(r.text.s) {
		c := r.text.at(i)
		if space(c) || c == '>' || c == '/' && r.text.at(i+1) == '>' || c == '<' && r.tag(i) {
			break
		}
		i++
	}
	r.text.ends(i)
	value = r.text.s[from:i]
	if n := len(value); n > 1 && (value[n-1] == '"' || value[n-1] == '\'') {
		value = value[:n-1]
		r.repaired(call)
	}
	return value, i
}

// repaired counts a quote that was put right in the tag of a call.
func (r *Reader) repaired(call bool) {
	if call {
		r.quotes++
	}
}
