package tags

import "strings"

// toolCalls reads what stands behind [TOOL_CALLS]: a list of calls in JSON, calls as {get a.go} in such a list, or a name with
// an object of arguments behind it.
func (r *Reader) toolCalls(from, i int) bool {
	i = r.text.spaces(i)
	switch c := r.text.at(i); {
	case c == '[' && i >= r.looked:
		value, end := r.value(i)
		if calls := callsOf(value, 0); len(calls) > 0 {
			for _, one := range calls {
				r.foreign(one.name, one.arguments, end)
			}
			return true
		}
		r.looked = end
		if r.shorthand(i + 1) {
			return true
		}
	case named(c):
		name := r.text.s[i:r.toolName(i)]
		next := i + len(name)
		if r.text.has(next, "[CALL_ID]") {
			next = r.text.name(next + len("[CALL_ID]"))
		}
		if r.text.has(next, "[ARGS]") {
			next += len("[ARGS]")
		}
		next = r.text.spaces(next)
		if r.text.at(next) == '{' && next >= r.looked {
			value, end := r.value(next)
			r.looked = end
			if arguments, ok := argumentsOf(value); ok {
				r.foreign(name, arguments, end)
				return true
			}
		}
	}
	r.malformed(from + len("[TOOL_CALLS]"))
	return true
}

// shorthand reads a list of calls that have a name and what a body would say, as [{get a},{get b}]. Its bracket stands before i.
func (r *Reader) shorthand(i int) bool {
	type short struct{ name, body string }
	var all []short
	for {
		i = r.text.spaces(i)
		if r.text.at(i) != '{' {
			return false
		}
		end := r.text.find('}', i)
		if end < 0 {
			return false
		}
		name, body, _ := strings.Cut(r.text.s[i+1:end], " ")
		if r.set.byName[name] == nil {
			return false
		}
		all = append(all, short{name, body})
		i = r.text.spaces(end + 1)
		if r.text.at(i) == ',' {
			i++
			continue
		}
		if r.text.at(i) != ']' {
			return false
		}
		for _, one := range all {
			r.foreign(one.name, []Argument{{"body", one.body}}, i+1)
		}
		return true
	}
}
