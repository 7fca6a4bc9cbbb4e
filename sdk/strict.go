package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
)

// JSONFaultKind says what is wrong with a text that should be JSON.
type JSONFaultKind int

// What CheckJSON refuses.
const (
	JSONSyntax JSONFaultKind = iota // it is no JSON
	JSONDeep                        // objects and arrays lie too deep in each other
	JSONTwice                       // an object has two members of one name
)

// JSONFault is what is wrong with a text that should be JSON, and where.
type JSONFault struct {
	Kind   JSONFaultKind
	Offset int    // in bytes
	Name   string // of the member that is there twice
	Err    error  // of the syntax
}

func (f *JSONFault) Error() string {
	switch f.Kind {
	case JSONTwice:
		return fmt.Sprintf("an object has two members called %.64q", f.Name)
	case JSONDeep:
		return "it is nested too deeply"
	default:
		return f.Err.Error()
	}
}

// CheckJSON reads a text and returns what is wrong with it, or nil. It refuses
// what encoding/json lets pass: two members of one name, of which two readers may
// believe different ones, and more than so many objects and arrays in each other.
// It does not recurse, so that depth costs nothing.
func CheckJSON(text []byte, depth int) *JSONFault {
	fault := scanJSON(text, depth)
	if json.Valid(text) {
		return fault
	}
	var whole json.RawMessage
	var at *json.SyntaxError
	syntax := &JSONFault{Kind: JSONSyntax, Offset: len(text), Err: json.Unmarshal(text, &whole)}
	if errors.As(syntax.Err, &at) && at.Error() != "unexpected end of JSON input" {
		syntax.Offset = max(int(at.Offset)-1, 0)
	}
	if fault != nil && fault.Kind == JSONDeep && fault.Offset <= syntax.Offset {
		return fault // it comes first
	}
	return syntax
}

// ReadJSON reads one JSON value into what v points to. Beside what CheckJSON refuses, a
// member that v has no field for is an error. The error is a *JSONFault or one of
// encoding/json.
func ReadJSON(text []byte, v any) error {
	if fault := CheckJSON(text, deepestArguments); fault != nil {
		return fault
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

// AnyJSON reads one JSON value of any shape. Numbers are json.Number, with the digits
// that stand there.
func AnyJSON(text []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err = d.Decode(&v); err != nil {
		return nil, err
	}
	if _, err = d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more than one JSON value")
	}
	return v, nil
}

// scanJSON looks for depth, and for the first name that stands twice, in text that
// need not be JSON.
func scanJSON(text []byte, depth int) (twice *JSONFault) {
	var open []map[string]bool // the names of each object that is not closed yet; nil for an array
	isName := false            // the next text is a name
	for n := 0; n < len(text); n++ {
		switch text[n] {
		case '{', '[':
			if len(open) == depth {
				return &JSONFault{Kind: JSONDeep, Offset: n + 1}
			}
			var names map[string]bool
			if isName = text[n] == '{'; isName {
				names = map[string]bool{}
			}
			open = append(open, names)
		case '}', ']':
			open, isName = open[:max(0, len(open)-1)], false
		case ',':
			isName = len(open) > 0 && open[len(open)-1] != nil
		case '"':
			end := endOfText(text, n)
			if isName {
				name, names := decodedText(text[n:end]), open[len(open)-1]
				if names[name] && twice == nil {
					twice = &JSONFault{Kind: JSONTwice, Offset: end, Name: name}
				}
				names[name], isName = true, false
			}
			n = end - 1
		}
	}
	return twice
}

// endOfText is where the text that begins at n has ended.
func endOfText(b []byte, n int) int {
	for n++; n < len(b) && b[n] != '"'; n++ {
		if b[n] == '\\' {
			n++
		}
	}
	return min(n+1, len(b))
}

// decodedText is a JSON text without its quotes and escapes.
func decodedText(text []byte) (s string) {
	if bytes.IndexByte(text, '\\') < 0 && utf8.Valid(text) {
		return string(text[1:max(1, len(text)-1)])
	}
	_ = json.Unmarshal(text, &s) // what is no JSON text is a mistake of the syntax
	return s
}
