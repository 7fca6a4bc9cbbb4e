package tags

import (
	"cmp"
	"strconv"
	"strings"
)

// foreignTag reads what begins with an angle bracket in the forms of other programs; false when none of them does.
func (r *Reader) foreignTag(i int) bool {
	switch r.text.at(i + 1) {
	case '|':
		return r.token(i)
	case deepToken[1]:
		return r.deep(i)
	case 't':
		switch {
		case r.text.has(i, "<tool_call>"):
			return r.wrapped(i, len("<tool_call>"))
		case r.text.has(i, "<tool_use>"):
			return r.toolUse(i, i+len("<tool_use>"))
		case r.text.has(i, "<tool_call|>"):
			r.skip(i + len("<tool_call|>"))
			return true
		}
	case 'f':
		if r.text.has(i, "<function=") {
			return r.function(i)
		}
	case 'i':
		if r.text.has(i, `<invoke name=`) {
			return r.invoke(i)
		}
	}
	return r.pseudo(i)
}

// wrapped reads what stands in <tool_call>: a call in JSON, or in another form, which is read where it begins.
func (r *Reader) wrapped(i, tag int) bool {
	next := r.text.spaces(i + tag)
	switch c := r.text.at(next); {
	case c == '{' || c == '[':
		told := len(r.warnings) + r.untold
		r.skip(next)
		switch {
		case r.json(next):
			return true
		case len(r.warnings)+r.untold > told:
			r.skip(i + tag)
			return true
		}
	case c == '<' || r.text.has(next, "call:"):
		r.skip(next)
		return true
	case next >= r.looked && r.keyed(next):
		return true
	}
	r.malformed(i + tag)
	return true
}

// malformed leaves out the beginning of a call that cannot be read, and tells the model. What stands in it is text.
func (r *Reader) malformed(next int) {
	r.lose("a call in another program's form", Foreign, "a call in another program's form cannot be read, so none was made of it. Write calls as tags.")
	r.skip(next)
}

// announced reports whether what is read now began by a sign that it is a call. JSON alone may be of anything.
func (r *Reader) announced() bool {
	c := r.text.s[r.began]
	return c == '<' || c == 'c' || r.text.has(r.began, "[TOOL_CALLS]")
}

// foreign makes a call of what another program's form says, which stands in the answer from r.pos up to next.
func (r *Reader) foreign(name string, arguments []Argument, next int) {
	name = strings.TrimPrefix(strings.TrimSpace(name), "functions.")
	t := r.set.byName[name]
	if t == nil {
		if r.announced() {
			r.lost = cmp.Or(r.lost, strconv.Quote(clip(name)))
		}
		r.warn(Unknown, "%q is no tool that you have, so no call was made of it.", clip(name))
		r.skip(next)
		return
	}
	if len(r.calls) == r.most {
		r.dropped++
		r.skip(next)
		return
	}
	at := Range{r.pos, next}
	if at.Start == at.End { // one of a list, which was left behind
		at.Start = r.began
	}
	m := making{progress: &r.progress, t: t, call: Call{Tool: t.Name, At: at}}
	for _, a := range arguments {
		m.argument(a.Name, a.Value)
	}
	r.calls = append(r.calls, m.done())
	r.skip(next)
}
