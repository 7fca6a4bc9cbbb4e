package host

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// quick knows the arguments that most calls have: an object whose members are
// plain texts, numbers and booleans. It reads them once, as they stand. What it
// does not take may still be right; the schema itself then says so, or what is
// wrong.
type quick struct {
	members map[string]member
	must    uint64 // a bit for each member that may not be left out
}

type member struct {
	kind string // its type
	bit  uint64
}

// newQuick is nil for a schema that asks for more than types and names.
func newQuick(s *jsonschema.Schema) *quick {
	if len(s.Properties) > 64 || !isFalse(s.AdditionalProperties) {
		return nil
	}
	rest := *s
	rest.Type, rest.Properties, rest.Required, rest.AdditionalProperties, rest.PropertyOrder, rest.Schema = "", nil, nil, nil, nil, ""
	if !saysNothing(rest) {
		return nil
	}
	q := &quick{members: make(map[string]member, len(s.Properties))}
	for name, p := range s.Properties {
		rest := *p
		rest.Type = ""
		switch p.Type {
		case "string", "integer", "number", "boolean":
		default:
			return nil
		}
		if !saysNothing(rest) {
			return nil
		}
		q.members[name] = member{kind: p.Type, bit: 1 << len(q.members)}
	}
	for _, name := range s.Required {
		m, there := q.members[name]
		if !there {
			return nil
		}
		q.must |= m.bit
	}
	return q
}

// saysNothing reports whether a schema, but for what people read, takes anything.
func saysNothing(s jsonschema.Schema) bool {
	s.Title, s.Description, s.Default, s.Examples = "", "", nil, nil
	return reflect.ValueOf(s).IsZero()
}

// takes reports whether the arguments are right. false is that it cannot tell.
func (q *quick) takes(b []byte) bool {
	if !json.Valid(b) {
		return false
	}
	var seen uint64
	b = skip(b)
	if b[0] != '{' {
		return false
	}
	for b = skip(b[1:]); b[0] != '}'; {
		if b[0] == ',' {
			b = skip(b[1:])
		}
		name, rest := text(b)
		m, known := q.members[string(name)]
		if !known || seen&m.bit != 0 {
			return false
		}
		seen |= m.bit
		b = skip(skip(rest)[1:]) // the colon
		if b = m.value(b); b == nil {
			return false
		}
		b = skip(b)
	}
	return seen&q.must == q.must
}

// value returns what is behind a value of the member's type; nil when it is of
// another, or one that has to be looked at more closely.
func (m member) value(b []byte) []byte {
	switch m.kind {
	case "string":
		if b[0] != '"' {
			return nil
		}
		_, rest := text(b)
		return rest
	case "boolean":
		if rest, ok := bytes.CutPrefix(b, []byte("true")); ok {
			return rest
		}
		if rest, ok := bytes.CutPrefix(b, []byte("false")); ok {
			return rest
		}
		return nil
	}
	n := 0
	for n < len(b) && (b[n] == '-' || b[n] >= '0' && b[n] <= '9' || b[n] == '.' && m.kind == "number") {
		n++
	}
	if n == 0 || n > 15 || b[n] == '.' || b[n]|0x20 == 'e' {
		return nil
	}
	return b[n:]
}

// text reads a text up to its end, as it is written. A name with an escape in it
// is none that a schema declares as it is written.
func text(b []byte) (inside, rest []byte) {
	for n := 1; ; n++ {
		switch b[n] {
		case '\\':
			n++
		case '"':
			return b[1:n], b[n+1:]
		}
	}
}

func skip(b []byte) []byte {
	for len(b) > 0 && (b[0] == ' ' || b[0] == '\t' || b[0] == '\n' || b[0] == '\r') {
		b = b[1:]
	}
	return b
}
