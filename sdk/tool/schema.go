package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// schemaFor infers a schema, and the defaults that calls are filled with. It is written
// when it is first asked for: a plugin has better to do before it has said that it is
// there.
func schemaFor[In any]() (written func() json.RawMessage, defaults []filling, err error) {
	s, err := jsonschema.For[In](nil)
	if err != nil {
		return nil, nil, err
	}
	t := reflect.TypeFor[In]()
	if s.Type != "object" || s.AdditionalProperties == nil || t.Kind() != reflect.Struct {
		return nil, nil, fmt.Errorf("the arguments are a %T: they must be a struct", *new(In))
	}
	plain(s)
	if defaults, err = tagged(t, s); err != nil {
		return nil, nil, err
	}
	return sync.OnceValue(func() json.RawMessage {
		b, _ := json.Marshal(brief{s}) // what is inferred holds nothing that cannot be written
		return b
	}), defaults, nil
}

// plain drops null from the types: an argument that is not wanted is left out,
// and model servers stumble over lists of types.
func plain(s *jsonschema.Schema) {
	if i := slices.Index(s.Types, "null"); i >= 0 && len(s.Types) == 2 {
		s.Type, s.Types = s.Types[1-i], nil
	}
	for _, p := range s.Properties {
		plain(p)
	}
	if s.Items != nil {
		plain(s.Items)
	}
	if s.AdditionalProperties != nil {
		plain(s.AdditionalProperties)
	}
}

// brief is a schema that writes itself as jsonschema does, but without looking at all
// that a schema can say first. Where it says more than inference does, jsonschema
// writes it.
type brief struct{ *jsonschema.Schema }

// MarshalJSON implements json.Marshaler.
func (b brief) MarshalJSON() ([]byte, error) {
	s := b.Schema
	if isFalse(s) {
		return []byte("false"), nil
	}
	rest := *s
	rest.Enum, rest.Default, rest.Examples, rest.Format = nil, nil, nil, ""
	rest.Type, rest.Description, rest.Minimum, rest.Maximum, rest.MinItems, rest.MaxItems = "", "", nil, nil, nil, nil
	rest.Properties, rest.PropertyOrder, rest.Required, rest.Items, rest.AdditionalProperties = nil, nil, nil, nil, nil
	if s.Type == "" || !reflect.ValueOf(rest).IsZero() {
		return json.Marshal(s)
	}
	w := struct {
		Type        string          `json:"type"`
		Properties  *properties     `json:"properties,omitempty"`
		Items       *brief          `json:"items,omitempty"`
		Description string          `json:"description,omitempty"`
		Minimum     *float64        `json:"minimum,omitempty"`
		Maximum     *float64        `json:"maximum,omitempty"`
		MinItems    *int            `json:"minItems,omitempty"`
		MaxItems    *int            `json:"maxItems,omitempty"`
		Required    []string        `json:"required,omitempty"`
		Additional  *brief          `json:"additionalProperties,omitempty"`
		Enum        []any           `json:"enum,omitempty"`
		Default     json.RawMessage `json:"default,omitempty"`
		Examples    []any           `json:"examples,omitempty"`
		Format      string          `json:"format,omitempty"`
	}{
		Type: s.Type, Description: s.Description, Minimum: s.Minimum, Maximum: s.Maximum,
		MinItems: s.MinItems, MaxItems: s.MaxItems, Required: s.Required,
		Enum: s.Enum, Default: s.Default, Examples: s.Examples, Format: s.Format,
	}
	if s.Properties != nil {
		w.Properties = &properties{s}
	}
	if s.Items != nil {
		w.Items = &brief{s.Items}
	}
	if s.AdditionalProperties != nil {
		w.Additional = &brief{s.AdditionalProperties}
	}
	return json.Marshal(w)
}

// isFalse reports whether a schema takes nothing: that is how an object is closed.
func isFalse(s *jsonschema.Schema) bool {
	rest := *s
	rest.Not = nil
	return s.Not != nil && reflect.ValueOf(*s.Not).IsZero() && reflect.ValueOf(rest).IsZero()
}

// properties are those of a struct, in the order of its fields.
type properties struct{ *jsonschema.Schema }

// MarshalJSON implements json.Marshaler.
func (p properties) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for n, name := range p.PropertyOrder {
		if n > 0 {
			out.WriteByte(',')
		}
		key, err := json.Marshal(name)
		if err != nil {
			return nil, err
		}
		value, err := json.Marshal(brief{p.Properties[name]})
		if err != nil {
			return nil, err
		}
		out.Write(key)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}
