package sdk

import (
	"bytes"
	"encoding/json"
	"errors"
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

// jsonLevel is an object or array that is open while a text is read.
type jsonLevel struct {
	names    map[string]bool // nil in an array
	wantName bool
}

// CheckJSON reads a text once and returns what is wrong with it, or nil. It
// refuses what encoding/json lets pass: two members of one name, of which two
// readers may believe different ones, and more than so many objects and arrays in
// each other. It does not recurse, so that depth costs nothing.
func CheckJSON(text []byte, depth int) *JSONFault {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var open []jsonLevel
	var twice *JSONFault
	for {
		token, err := d.Token()
		if err != nil {
			break // the end, or a mistake that is placed below
		}
		if token == json.Delim('}') || token == json.Delim(']') {
			open = open[:len(open)-1]
			continue
		}
		if n := len(open) - 1; n >= 0 && open[n].names != nil {
			if open[n].wantName = !open[n].wantName; !open[n].wantName {
				name, _ := token.(string)
				if open[n].names[name] && twice == nil {
					twice = &JSONFault{Kind: JSONTwice, Offset: int(d.InputOffset()), Name: name}
				}
				open[n].names[name] = true
				continue
			}
		}
		if token != json.Delim('{') && token != json.Delim('[') {
			continue
		}
		if len(open) == depth {
			return &JSONFault{Kind: JSONDeep, Offset: int(d.InputOffset())}
		}
		level := jsonLevel{}
		if token == json.Delim('{') {
			level = jsonLevel{names: map[string]bool{}, wantName: true}
		}
		open = append(open, level)
	}
	var whole json.RawMessage
	if err := json.Unmarshal(text, &whole); err != nil {
		fault := &JSONFault{Kind: JSONSyntax, Offset: len(text), Err: err}
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) && err.Error() != "unexpected end of JSON input" {
			fault.Offset = max(int(syntax.Offset)-1, 0)
		}
		return fault
	}
	return twice
}
