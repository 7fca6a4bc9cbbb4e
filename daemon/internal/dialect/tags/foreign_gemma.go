package tags

import (
	"encoding/json"
	"strings"
)

// quoteToken stands in the place of quotes in calls of Gemma.
const quoteToken = `<|"|>`

// callForm reads call:NAME{key:value, ...}; false when what begins at i is none.
func (r *Reader) callForm(i int) bool {
	if i > 0 && named(r.text.s[i-1]) || !r.text.has(i, "call:") {
		return false
	}
	from := i + len("call:")
	end := r.toolName(from)
	if end == from || r.text.at(end) != '{' || i < r.looked {
		return false
	}
	name := r.text.s[from:end]
	f := form{r, end}
	arguments, ok := f.members()
	if !ok {
		r.looked = f.i
		r.malformed(end)
		return true
	}
	r.foreign(name, arguments, f.i)
	return true
}

// form reads what is nearly JSON: names and texts may have no quotes, or tokens in the place of quotes.
type form struct {
	*Reader
	i int
}

// members reads an object, whose brace is at i.
func (f *form) members() (all []Argument, ok bool) {
	f.i = f.text.spaces(f.i + 1)
	for f.text.at(f.i) != '}' {
		name, ok := f.name()
		if !ok {
			return nil, false
		}
		value, ok := f.scalar(0)
		if !ok {
			return nil, false
		}
		all = append(all, Argument{name, value})
		f.i = f.text.spaces(f.i)
		if f.text.at(f.i) == ',' {
			f.i = f.text.spaces(f.i + 1)
		} else if f.text.at(f.i) != '}' {
			return nil, false
		}
	}
	f.i++
	return all, true
}

// name reads the name of a member, with its colon.
func (f *form) name() (name string, ok bool) {
	if name, ok = f.quotedText(); !ok {
		end := f.text.name(f.i)
		name = f.text.s[f.i:end]
		f.i = end
	}
	f.i = f.text.spaces(f.i)
	if name == "" || f.text.at(f.i) != ':' {
		return "", false
	}
	f.i = f.text.spaces(f.i + 1)
	return name, true
}

// quotedText reads a text with quotes of any kind; false, where it was, when there is none.
func (f *form) quotedText() (text string, ok bool) {
	switch c := f.text.at(f.i); {
	case f.text.has(f.i, quoteToken):
		from := f.i + len(quoteToken)
		end := f.text.findWord(quoteToken, from)
		if end < 0 {
			f.i = len(f.text.s)
			return "", false
		}
		f.i = end + len(quoteToken)
		return f.text.s[from:end], true
	case c == '"':
		value, end := f.value(f.i)
		if json.Unmarshal(value, &text) != nil {
			f.i = max(end, f.i+1)
			return "", false
		}
		f.i = end
		return text, true
	case c == '\'':
		end := f.text.find('\'', f.i+1)
		if end < 0 {
			f.i = len(f.text.s)
			return "", false
		}
		text = f.text.s[f.i+1 : end]
		f.i = end + 1
		return text, true
	}
	return "", false
}

// deepest is how many lists and objects may stand inside each other.
const deepest = 16

// scalar reads a value. What is no text stands in the answer as JSON has it, but for names without quotes.
func (f *form) scalar(depth int) (any, bool) {
	if c := f.text.at(f.i); c == '[' || c == '{' {
		raw, ok := f.nested(depth)
		return raw, ok
	}
	from := f.i
	if text, ok := f.quotedText(); ok {
		return text, true
	}
	if f.i != from {
		return nil, false
	}
	for f.i < len(f.text.s) && !strings.ContainsRune(",}]{[\n", rune(f.text.s[f.i])) {
		f.text.steps++
		f.i++
	}
	f.text.ends(f.i)
	word := strings.TrimSpace(f.text.s[from:f.i])
	if word == "" {
		return nil, false
	}
	if json.Valid([]byte(word)) {
		return fromJSON(json.RawMessage(word)), true
	}
	return word, true
}

// nested reads a list or an object as JSON.
func (f *form) nested(depth int) (json.RawMessage, bool) {
	if depth == deepest {
		return nil, false
	}
	open, shut := f.text.s[f.i], byte(']')
	if open == '{' {
		shut = '}'
	}
	raw := json.RawMessage{open}
	f.i = f.text.spaces(f.i + 1)
	for f.text.at(f.i) != shut {
		if len(raw) > 1 {
			raw = append(raw, ',')
		}
		if open == '{' {
			name, ok := f.name()
			if !ok {
				return nil, false
			}
			raw = append(append(raw, encoded(name)...), ':')
		}
		value, ok := f.scalar(depth + 1)
		if !ok {
			return nil, false
		}
		raw = append(raw, encoded(value)...)
		f.i = f.text.spaces(f.i)
		if f.text.at(f.i) == ',' {
			f.i = f.text.spaces(f.i + 1)
		} else if f.text.at(f.i) != shut {
			return nil, false
		}
	}
	f.i++
	return append(raw, shut), true
}

// encoded is a value as JSON.
func encoded(value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		return []byte("null")
	}
	return raw
}
