package tags

import "strings"

// instead is what models write in the place of set, and what of it names an entry.
var instead = map[string]string{"known": "known://NAME", "unknown": "unknown://NAME", "summarize": "known://NAME"}

// twelve are the names of tools that an answer may call though they are not offered.
var twelve = func() map[string]bool {
	names := map[string]bool{}
	for _, t := range Twelve() {
		names[t.Name] = true
	}
	return names
}()

// longestTag is how long a tag may be that is left out of the text.
const longestTag = 1024

// plainTag leaves out a tag that is no call, as <thinking> or </p>; false when what begins at i is no tag. The model is told
// of one that it may have meant as a call.
func (r *Reader) plainTag(i int) bool {
	from := i + 1
	closing := r.text.at(from) == '/'
	if closing {
		from++
	}
	if !letter(r.text.at(from)) || !closing && i > 0 && named(r.text.s[i-1]) {
		return false // as in Map<string>
	}
	end := r.text.name(from)
	name := r.text.s[from:end]
	next := r.tagEnd(end)
	if next < 0 {
		return false
	}
	if !closing {
		r.warnPlain(name)
	}
	r.skip(next)
	return true
}

// tagEnd is the place behind a tag whose name ends at i; -1 when that is none: it has attributes with values, or nothing.
func (r *Reader) tagEnd(i int) int {
	from := i
	for i-from < longestTag {
		i = r.text.spaces(i)
		switch c := r.text.at(i); {
		case c == '>':
			return i + 1
		case c == '/' && r.text.at(i+1) == '>':
			return i + 2
		case !letter(c):
			return -1
		}
		for named(r.text.at(i)) || r.text.at(i) == '-' || r.text.at(i) == ':' {
			i++
		}
		if r.text.at(i) != '=' {
			return -1
		}
		quote := r.text.at(i + 1)
		if quote != '"' && quote != '\'' {
			return -1
		}
		end := r.text.find(quote, i+2)
		if end < 0 || r.tagIn(i+2, end) >= 0 {
			return -1
		}
		i = end + 1
	}
	return -1
}

// warnPlain tells the model of a tag that it may have meant as a call.
func (r *Reader) warnPlain(name string) {
	lower := strings.ToLower(name)
	switch path := instead[name]; {
	case path != "":
		r.warn(Unknown, "<%s> is no tool, so no call was made of it: write <set path=\"%s\">...</set>.", name, path)
	case r.set.byName[lower] != nil:
		r.warn(Unknown, "<%s> is no tool, so no call was made of it: the name is written <%s>.", name, lower)
	case twelve[name]:
		r.warn(Unknown, "<%s> is not among the tools that you have, so no call was made of it.", name)
	default:
		return
	}
	r.lost = true
}
