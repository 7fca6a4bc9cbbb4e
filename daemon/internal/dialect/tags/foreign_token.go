package tags

import "strings"

// Tokens by which templates of models mark who speaks and what is a call. They come into a text where a server does not take
// them out.
const (
	gemmaCall   = "<|tool_call>"
	kimiCall    = "<|tool_call_begin|>"
	kimiArgs    = "<|tool_call_argument_begin|>"
	channelWord = "<|channel>"
	channel     = "<|channel|>"
	start       = "<|start|>"
	message     = "<|message|>"

	deepToken = "<\uff5c" // begins those of DeepSeek, and deepEnd ends them
	deepEnd   = "\uff5c>"
	deepCall  = deepToken + "tool\u2581call\u2581begin" + deepEnd
	deepArgs  = deepToken + "tool\u2581sep" + deepEnd
)

// callTokens stand before calls in JSON, or in a form that cannot be read.
var callTokens = []string{"<|tool_call|>", "<|tool_call_start|>", "<|START_ACTION|>", "<|python_tag|>"}

// longestHeader is how much stands between a channel and its message at most.
const longestHeader = 256

// token reads what begins with a token: a call, the head of a message, or nothing but the token.
func (r *Reader) token(i int) bool {
	switch {
	case r.text.has(i, gemmaCall):
		r.skip(i + len(gemmaCall))
		if next := r.text.spaces(r.pos); r.text.at(next) == '{' || r.text.at(next) == '[' {
			r.skip(next)
			if r.json(next) {
				return true
			}
		} else if t, _ := r.opens(next); t != nil { // which is read where it begins
			r.skip(next)
			return true
		} else if r.callForm(next) {
			return true
		}
		r.malformed(i + len(gemmaCall))
		return true
	case r.text.has(i, kimiCall):
		head, next := r.header(i+len(kimiCall), kimiArgs)
		name, _, _ := strings.Cut(head, ":")
		if next > 0 && r.argued(name, next) {
			return true
		}
		r.malformed(i + len(kimiCall))
		return true
	case r.text.has(i, channel), r.text.has(i, start):
		head, next := r.header(i+len(start), message)
		if next < 0 {
			break
		}
		_, to, called := strings.Cut(head, "to=")
		to, _, _ = strings.Cut(to, " ")
		to, _, _ = strings.Cut(to, "<")
		switch {
		case called && r.argued(to, next):
		case called:
			r.malformed(next)
		default:
			r.skip(next)
		}
		return true
	case r.text.has(i, channelWord):
		end := r.text.name(i + len(channelWord))
		r.skip(end)
		return true
	}
	for _, word := range callTokens {
		if r.text.has(i, word) {
			return r.wrapped(i, len(word))
		}
	}
	return r.pseudo(i)
}

// deep reads what begins with a token of DeepSeek: a call, whose arguments may stand in a block of JSON, or nothing but the token.
func (r *Reader) deep(i int) bool {
	if !r.text.has(i, deepCall) {
		_, next := r.header(i+len(deepToken), deepEnd)
		if !r.text.has(i, deepToken) || next < 0 {
			return false
		}
		r.skip(next)
		return true
	}
	const fence = "```"
	name, next := r.header(i+len(deepCall), deepArgs)
	fenced := strings.TrimSpace(name) == "function" && next > 0
	if fenced {
		end := r.toolName(next)
		name, next = r.text.s[next:end], r.text.spaces(end)
		if r.text.has(next, fence+"json") {
			next += len(fence + "json")
		}
	}
	if next < 0 || !r.argued(name, next) {
		r.malformed(i + len(deepCall))
		return true
	}
	if end := r.text.spaces(r.pos); fenced && r.text.has(end, fence) {
		r.skip(end + len(fence))
	}
	return true
}

// header is what stands from i up to a token, with the place behind that; -1 when there is none on the line.
func (r *Reader) header(i int, token string) (head string, next int) {
	for end := i; end-i < longestHeader; end++ {
		switch c := r.text.at(end); {
		case c == token[0] && r.text.has(end, token):
			return r.text.s[i:end], end + len(token)
		case c == '\n' || c == '<' && (token[0] != '<' || r.tag(end)) || r.text.ends(end):
			return "", -1
		}
	}
	return "", -1
}

// argued makes a call of a name and the object of arguments at i; false when there is none.
func (r *Reader) argued(name string, i int) bool {
	i = r.text.spaces(i)
	if r.text.at(i) != '{' || i < r.looked {
		return false
	}
	value, end := r.value(i)
	r.looked = end
	arguments, ok := argumentsOf(value)
	if ok {
		r.foreign(name, arguments, end)
	}
	return ok
}

// pseudo leaves out a token that says nothing here: <|word|>, <|/word|>, <|word> or <word|>. It is false when there is none.
func (r *Reader) pseudo(i int) bool {
	from := i + 1
	opened := r.text.at(from) == '|'
	if opened {
		from++
	}
	begin := from
	if c := r.text.at(from); opened && (c == '"' || c == '/') {
		from++
	}
	end := r.text.name(from)
	closed := r.text.at(end) == '|'
	if closed {
		end++
	}
	if !opened && !closed || end == begin || r.text.at(end) != '>' {
		return false
	}
	r.skip(end + 1)
	return true
}
