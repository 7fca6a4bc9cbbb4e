package tags

import "strings"

// function reads <function=NAME> with its parameters, as Qwen writes it, or with an object of arguments, as Llama does.
func (r *Reader) function(i int) bool {
	from := i + len("<function=")
	end := r.toolName(from)
	if r.text.at(end) != '>' {
		r.malformed(from)
		return true
	}
	name := r.text.s[from:end]
	if !r.argued(name, end+1) {
		r.parted(i, name, end+1, "<parameter=", "</function>")
	} else if r.text.has(r.pos, "</function>") {
		r.skip(r.pos + len("</function>"))
	}
	return true
}

// invoke reads <invoke name="NAME"> with its parameters, as Claude writes it.
func (r *Reader) invoke(i int) bool {
	from := i + len("<invoke name=")
	name, next, ok := r.naming(from)
	if !ok {
		r.malformed(from)
		return true
	}
	r.parted(i, name, next, "<parameter name=", "</invoke>")
	return true
}

// naming reads a name up to the end of its tag, with or without quotes.
func (r *Reader) naming(i int) (name string, next int, ok bool) {
	quote := r.text.at(i)
	if quote == '"' || quote == '\'' {
		i++
	}
	end := r.toolName(i)
	next = end
	if quote == '"' || quote == '\'' {
		if r.text.at(next) != quote {
			return "", 0, false
		}
		next++
	}
	return r.text.s[i:end], next + 1, end > i && r.text.at(next) == '>'
}

// parted makes a call of parameters that have tags of their own, from i on up to the tag that ends it.
func (r *Reader) parted(from int, name string, i int, part, shut string) {
	const closer = "</parameter>"
	var all []Argument
	begin := i
	for from >= r.looked {
		i = r.text.spaces(i)
		if r.text.has(i, shut) {
			r.foreign(name, all, i+len(shut))
			return
		}
		if !r.text.has(i, part) {
			break
		}
		key, next, ok := r.naming(i + len(part))
		if !ok || r.missing[closer] {
			break
		}
		end := r.text.findWord(closer, next)
		if end < 0 {
			if r.text.whole {
				r.missing[closer] = true
			}
			break
		}
		at := trimmed(r.text.s, Range{next, end})
		all = append(all, Argument{key, r.text.s[at.Start:at.End]})
		i = end + len(closer)
	}
	if r.text.ends(i) && len(all) > 0 {
		r.warn(Unclosed, "the call of %s is not closed: everything up to the end of the answer was taken for it.", clip(name))
		had := len(r.calls)
		r.foreign(name, all, i)
		for n := range r.calls[had:] {
			r.calls[had+n].Open = true
		}
		return
	}
	r.looked = max(r.looked, i)
	r.malformed(begin)
}

// keyed reads NAME with <arg_key> and <arg_value> for each argument up to the tag that ends them, as GLM writes a call within
// <tool_call>; false when what begins at i is none.
func (r *Reader) keyed(i int) bool {
	const closer, shut = "</arg_value>", "</tool_call>"
	end := r.toolName(i)
	name := r.text.s[i:end]
	if i = r.text.spaces(end); name == "" || !r.text.has(i, "<arg_key>") {
		return false
	}
	var all []Argument
	for {
		key, next, ok := r.element(i, "arg_key")
		r.looked = max(r.looked, next)
		if !ok || !r.text.has(next, "<arg_value>") || r.missing[closer] {
			break
		}
		next += len("<arg_value>")
		end := r.text.findWord(closer, next)
		if end < 0 {
			r.missing[closer] = r.text.whole
			return false
		}
		at := trimmed(r.text.s, Range{next, end})
		all = append(all, Argument{key, r.text.s[at.Start:at.End]})
		i = r.text.spaces(end + len(closer))
		r.looked = max(r.looked, i)
	}
	if !r.text.has(i, shut) {
		return false
	}
	r.foreign(name, all, i+len(shut))
	return true
}

// toolUse reads <tool_use> with a name and an input, or with JSON in it.
func (r *Reader) toolUse(from, i int) bool {
	next := r.text.spaces(i)
	if r.text.at(next) != '<' || r.text.has(next, "<tool_call") {
		return r.wrapped(from, len("<tool_use>"))
	}
	if from < r.looked {
		r.malformed(i)
		return true
	}
	name, next, ok := r.element(next, "name", "tool_name", "tool")
	if !ok {
		r.skip(i)
		return true // perhaps what stands in it can be read
	}
	input, next, ok := r.element(next, "input", "arguments", "parameters")
	arguments, read := argumentsOf([]byte(input))
	if !ok || !read {
		r.looked = next
		r.malformed(i)
		return true
	}
	r.foreign(name, arguments, next)
	return true
}

// element is the text of the element that begins at i, which has one of some names, with the place of what follows.
func (r *Reader) element(i int, names ...string) (text string, next int, ok bool) {
	for _, name := range names {
		if !r.text.has(i, "<"+name+">") {
			continue
		}
		from, closer := i+len(name)+2, "</"+name+">"
		if r.missing[closer] {
			return "", i, false
		}
		end := r.text.findWord(closer, from)
		if end < 0 {
			if r.text.whole {
				r.missing[closer] = true
			}
			return "", i, false
		}
		return strings.TrimSpace(r.text.s[from:end]), r.text.spaces(end + len(closer)), true
	}
	return "", i, false
}
