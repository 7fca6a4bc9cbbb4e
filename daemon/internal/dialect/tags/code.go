package tags

import (
	"encoding/json"
	"strings"
)

// longestSpan is how many backquotes a span of code begins with at most.
const longestSpan = 8

// backquote reads what begins with a backquote or a tilde: a block of code, a span of it, or text.
func (r *Reader) backquote(i int) {
	c := r.text.s[i]
	run := i
	for run < len(r.text.s) && r.text.s[run] == c {
		r.text.steps++
		run++
	}
	r.text.ends(run)
	size := run - i
	switch starts := r.startsLine(i); {
	case r.fence > 0 && size >= r.fence && !starts:
		r.endWrapper()
		r.skip(run)
		return
	case size >= 3 && r.block(i, run, c, starts):
		return
	}
	if c == '`' && size <= longestSpan {
		if size == 1 && i > 0 && named(r.text.s[i-1]) && named(r.text.at(run)) {
			r.notCode(i)
			r.keep(run)
			return
		}
		if end := r.span(run, size); end > 0 {
			r.keep(end)
			return
		}
	}
	r.keep(run)
}

// notCode takes a backquote between two letters, as in "it`s", for an apostrophe. If calls were made since the last one of
// the line, the model is told, for it may have meant code.
func (r *Reader) notCode(i int) {
	if r.apostrophe > 0 && len(r.calls)+r.dropped > r.before {
		r.text.steps += i - r.apostrophe
		if !strings.Contains(r.text.s[r.apostrophe:i], "\n") {
			r.warn(Backquote, "a call stands between two backquotes, which were taken for apostrophes: it was made. Put a blank before the backquote that begins code.")
		}
	}
	r.apostrophe, r.before = i+1, len(r.calls)+r.dropped
}

// span is the end of a span of code that begins at i, behind its backquotes: it ends on the same line. It is -1 when
// there is none.
func (r *Reader) span(i, size int) int {
	run := 0
	for {
		c := r.text.at(i)
		switch {
		case c == '`':
			run++
		case run == size:
			return i
		case r.text.ends(i) || c == '\n':
			return -1
		default:
			run = 0
		}
		i++
	}
}

// startsLine reports whether only blanks stand before i on its line.
func (r *Reader) startsLine(i int) bool {
	for i > 0 && (r.text.s[i-1] == ' ' || r.text.s[i-1] == '\t') {
		r.text.steps++
		i--
	}
	return i == 0 || r.text.s[i-1] == '\n'
}

// wrappers are what blocks say that models write around calls.
var wrappers = map[string]bool{"xml": true, "tool_code": true, "tool_command": true, "tool_call": true, "tool_calls": true, "tool_use": true}

// block reads a line that begins or ends a block of code, and what is in it if that is quoted. Of a block that says that
// it holds calls both lines are left out, and they are read. It is false where the line is none of a block: behind other
// text it is one only if it ends with a word that says what the block is.
func (r *Reader) block(i, run int, c byte, starts bool) bool {
	if !starts {
		if end := r.text.name(run); end == run || r.text.at(end) != '\n' && r.text.at(end) != '\r' {
			return false
		}
	}
	end := r.text.find('\n', run)
	next := end + 1
	if end < 0 {
		end, next = len(r.text.s), len(r.text.s)
	}
	says := strings.ToLower(strings.TrimSpace(r.text.s[run:end]))
	r.text.steps += 2 * (end - run)
	switch {
	case c == '`' && strings.Contains(says, "`"):
		word, _, _ := strings.Cut(says, " ")
		if r.fence > 0 || !wrappers[word] {
			return false
		}
		r.fence, r.fenced = run-i, -1 // all of it stands on one line
		r.skip(r.text.spaces(run) + len(word))
	case r.fence > 0 && says == "" && run-i >= r.fence:
		r.endWrapper()
		r.skip(next)
	case r.fence == 0 && wrappers[says]:
		r.fence, r.fenced = run-i, len(r.calls)+r.dropped
		if says == "xml" {
			r.fenced = -1 // it may well hold something else
		}
		r.skip(next)
	case r.fence == 0 && says == "json" && r.jsonBlock(next):
		r.fence, r.fenced = run-i, -1
	default:
		r.quotedBlock(run, c, run-i)
	}
	return true
}

// endWrapper ends a block of calls.
func (r *Reader) endWrapper() {
	r.fence = 0
	if len(r.calls)+r.dropped == r.fenced {
		r.lose("a block that says that it holds calls", Foreign, "a block that says that it holds calls has none that can be read. Write calls as tags.")
	}
}

// jsonBlock reads a call that a block of JSON begins with; false when it begins with something else.
func (r *Reader) jsonBlock(i int) bool {
	i = r.text.spaces(i)
	if c := r.text.at(i); c != '{' && c != '[' {
		return false
	}
	from := r.pos
	r.skip(i)
	if r.json(i) {
		return true
	}
	r.pos = from
	return false
}

// quotedBlock keeps a block of code up to the line that ends it. From i on there is what it says.
func (r *Reader) quotedBlock(i int, c byte, size int) {
	from := i
	if i = r.text.find('\n', i) + 1; i == 0 {
		i = len(r.text.s)
	}
	content := i
	for {
		line := i
		for r.text.at(i) == ' ' || r.text.at(i) == '\t' {
			i++
		}
		run := i
		for r.text.at(run) == c {
			run++
		}
		ended := run-i >= size
		end := r.text.find('\n', run)
		if end < 0 {
			end = len(r.text.s)
		}
		i = min(end+1, len(r.text.s))
		ended = ended && blank(r.text.s[min(run, end):end])
		if !ended && !r.text.ends(i) {
			continue
		}
		if !ended {
			line = i
		}
		r.warnQuoted(from, content, line)
		r.keep(i)
		return
	}
}

// warnQuoted tells the model of the calls in a block of code, of which one may be all of its content as JSON.
func (r *Reader) warnQuoted(from, content, end int) {
	if name := r.calledIn(content, end); name != "" {
		r.warn(Quoted, "a call of %s in a block of code is quoted, so that it was not made. Write calls as tags, outside of blocks of code.", name)
		return
	}
	for i := from; i < end; i++ {
		i = r.tagIn(i, end)
		if i < 0 {
			return
		}
		if t, _ := r.opens(i); t != nil {
			r.warn(Quoted, "<%s> in a block of code is quoted, so that no call was made of it. Write calls outside of blocks of code.", t.Name)
			return
		}
	}
}

// calledIn is the tool that a text calls which is nothing but a call in JSON; empty when it is not.
func (r *Reader) calledIn(i, end int) string {
	if i = r.text.spaces(i); i >= end {
		return ""
	}
	object := i
	if r.text.s[i] == '[' {
		object = r.text.spaces(i + 1)
	}
	if _, is := r.key(object); !is {
		return ""
	}
	r.text.steps += end - i
	for _, c := range callsOf(json.RawMessage(r.text.s[i:end]), 0) {
		if r.set.byName[c.name] != nil {
			return c.name
		}
	}
	return ""
}
