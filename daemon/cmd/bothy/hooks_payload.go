package main

import (
	"encoding"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// payloadType is a type that hooks carry, as its JSON is.
type payloadType struct {
	Name   string         `json:"name"`
	Fields []payloadField `json:"fields"`
}

type payloadField struct {
	Name     string `json:"name"`
	Type     string `json:"type"`
	Optional bool   `json:"optional,omitempty"`
}

func (t payloadType) String() string {
	var fields []string
	for _, f := range t.Fields {
		if f.Optional {
			f.Name += "?"
		}
		fields = append(fields, f.Name+" "+f.Type)
	}
	return t.Name + ": " + strings.Join(fields, ", ")
}

// payloadTypes collects the types with members, each once, in the order in which
// they are met.
type payloadTypes struct{ found []payloadType }

// word is how a type of Go is called in JSON.
func (p *payloadTypes) word(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[json.RawMessage]():
		return "any"
	case reflect.TypeFor[time.Time]():
		return "time"
	case reflect.TypeFor[sdk.Duration]():
		return "duration"
	}
	if t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return "string"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return p.word(t.Elem())
	case reflect.Slice:
		return "[]" + p.word(t.Elem())
	case reflect.Map:
		return "map of " + p.word(t.Elem())
	case reflect.Struct:
		p.take(t)
		return t.Name()
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	default:
		return "number"
	}
}

func (p *payloadTypes) take(t reflect.Type) {
	if slices.ContainsFunc(p.found, func(f payloadType) bool { return f.Name == t.Name() }) {
		return
	}
	at := len(p.found)
	p.found = append(p.found, payloadType{Name: t.Name()})
	var fields []payloadField
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || name == "-" {
			continue // the members of an embedded type are among the visible ones
		}
		fields = append(fields, payloadField{name, p.word(f.Type), strings.Contains(options, "omit")})
	}
	p.found[at].Fields = fields
}
