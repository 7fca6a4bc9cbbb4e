package dialect

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
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

// scan returns what is wrong with text, or "".
func scan(text string) string {
	dec := json.NewDecoder(strings.NewReader(text))
	if first, err := dec.Token(); err == nil && first != json.Delim('{') {
		return "the arguments must be a JSON object such as {\"path\": \"a.txt\"}, not " + kindOf(first) + "."
	}
	fault := sdk.CheckJSON([]byte(text), MaxDepth)
	switch {
	case fault == nil:
		return ""
	case fault.Kind == sdk.JSONDeep:
		return fmt.Sprintf("the arguments are nested too deeply: at most %d levels.", MaxDepth)
	case fault.Kind == sdk.JSONTwice:
		return fmt.Sprintf("the arguments name %q twice in one object. Name each key once.", shorten(fault.Name))
	default:
		return syntaxFault(text, fault)
	}
}

func kindOf(tok json.Token) string {
	switch tok.(type) {
	case json.Delim:
		return "an array"
	case string:
		return "a string"
	case float64:
		return "a number"
	case bool:
		return "a boolean"
	default:
		return "null"
	}
}

// around is how much of the text a syntax fault quotes before and after it.
const around = 30

func syntaxFault(text string, fault *sdk.JSONFault) string {
	what, at := "not valid JSON", fault.Offset
	if at >= len(text) {
		what = "not whole: the JSON ends too early"
	}
	near := strings.ToValidUTF8(text[max(at-around, 0):min(at+around, len(text))], "")
	return fmt.Sprintf("the arguments are %s at byte %d, near %q (%v). Send the call again with one JSON object.", what, at, near, fault.Err)
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
