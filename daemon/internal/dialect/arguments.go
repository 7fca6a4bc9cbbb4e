package dialect

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Limits on one call's arguments. What exceeds them is a fault of that call.
const (
	MaxArguments = 1 << 20 // bytes
	MaxDepth     = 64      // objects and arrays inside each other
)

// readArguments turns a model's text into a JSON object, or says for the model
// why it is none. Empty text is the empty object (several servers send that for
// a call without arguments).
func readArguments(text string) (json.RawMessage, string) {
	if len(text) > MaxArguments {
		return nil, fmt.Sprintf("the arguments are too long: %d bytes, at most %d. Write large content in several smaller calls.", len(text), MaxArguments)
	}
	trimmed := strings.TrimSpace(text)
	switch {
	case trimmed == "":
		return json.RawMessage("{}"), ""
	case !utf8.ValidString(trimmed):
		return nil, "the arguments are not valid UTF-8. Send the call again as a JSON object."
	}
	if fault := scan(trimmed); fault != "" {
		return nil, fault
	}
	return json.RawMessage(trimmed), ""
}

// level is an object or array that is open while scanning.
type level struct {
	keys    map[string]bool // nil in an array
	wantKey bool
}

// scan goes once over text and returns what is wrong with it, or "". It is
// linear and does not recurse, so that depth costs nothing.
func scan(text string) string {
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var open []level
	for first := true; ; first = false {
		tok, err := dec.Token()
		if errors.Is(err, io.EOF) && !first && len(open) == 0 {
			break
		}
		if err != nil {
			return syntaxFault(text, err, dec.InputOffset())
		}
		if first && tok != json.Delim('{') {
			return "the arguments must be a JSON object such as {\"path\": \"a.txt\"}, not " + kindOf(tok) + "."
		}
		if !first && len(open) == 0 {
			return syntaxFault(text, errors.New("there is more after the object"), dec.InputOffset())
		}
		switch tok {
		case json.Delim('{'), json.Delim('['):
			if len(open) > 0 {
				open[len(open)-1].wantKey = open[len(open)-1].keys != nil
			}
			if len(open) == MaxDepth {
				return fmt.Sprintf("the arguments are nested too deeply: at most %d levels.", MaxDepth)
			}
			l := level{}
			if tok == json.Delim('{') {
				l = level{keys: map[string]bool{}, wantKey: true}
			}
			open = append(open, l)
		case json.Delim('}'), json.Delim(']'):
			open = open[:len(open)-1]
		default:
			top := &open[len(open)-1]
			if key, ok := tok.(string); ok && top.wantKey {
				if top.keys[key] {
					return fmt.Sprintf("the arguments name %q twice in one object. Name each key once.", shorten(key))
				}
				top.keys[key] = true
				top.wantKey = false
				continue
			}
			top.wantKey = top.keys != nil
		}
	}
	if !json.Valid([]byte(text)) {
		return "the arguments are not valid JSON. Send the call again as a JSON object."
	}
	return ""
}

func kindOf(tok json.Token) string {
	switch tok.(type) {
	case json.Delim:
		return "an array"
	case string:
		return "a string"
	case json.Number:
		return "a number"
	case bool:
		return "a boolean"
	default:
		return "null"
	}
}

// around is how much of the text a syntax fault quotes before and after it.
const around = 30

func syntaxFault(text string, err error, offset int64) string {
	what := "not valid JSON"
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		what = "not whole: the JSON ends too early"
	}
	at := int(min(max(offset, 0), int64(len(text))))
	from, to := max(at-around, 0), min(at+around, len(text))
	near := strings.ToValidUTF8(text[from:to], "")
	return fmt.Sprintf("the arguments are %s at byte %d, near %q (%v). Send the call again with one JSON object.", what, at, near, err)
}

// kept is how much of a text that is no use is kept for people to see.
const kept = 4 << 10

// shorten cuts a long text and says so; what it returns is valid UTF-8.
func shorten(text string) string {
	if len(text) <= kept {
		return strings.ToValidUTF8(text, "\uFFFD")
	}
	return strings.ToValidUTF8(text[:kept], "\uFFFD") + fmt.Sprintf("... (%d bytes in all)", len(text))
}
