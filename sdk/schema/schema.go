// Package schema reads the JSON Schema of a tool's arguments, and checks arguments
// against it: what the daemon refuses of a plugin's declaration, and of a call.
// It has no state, and starts nothing.
package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bothyd/bothy/sdk"
)

// MaxArguments is how many bytes the arguments of one call may have.
const MaxArguments = 8 << 20

// Schema is a compiled JSON Schema of an object. It may be used by several
// goroutines at once.
type Schema struct {
	resolved *jsonschema.Resolved
	names    map[string]bool // of all declared properties, for the error text; nil when the schema is composed
	required []string        // names that may not be left out
}

// Compile reads the JSON Schema of an object. Properties that it does not declare
// are refused, whether the schema says so or not, unless it says that they are
// taken. The error is for the schema's author.
func Compile(text json.RawMessage) (*Schema, error) {
	if len(text) > sdk.MaxSchema {
		return nil, fmt.Errorf("its JSON Schema has %d bytes, at most %d are taken", len(text), sdk.MaxSchema)
	}
	if err := strict(text); err != nil {
		return nil, fmt.Errorf("the words of its JSON Schema cannot be read: %w", err)
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("its JSON Schema cannot be read: %w", err)
	}
	if s.Type != "object" {
		return nil, errors.New("its JSON Schema is not one of type object")
	}
	composed := len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) > 0 || s.If != nil || s.Ref != "" || s.DynamicRef != "" || len(s.PatternProperties) > 0
	nothing := &jsonschema.Schema{Not: &jsonschema.Schema{}}
	switch {
	case composed && s.UnevaluatedProperties == nil && s.AdditionalProperties == nil:
		s.UnevaluatedProperties = nothing
	case !composed && s.AdditionalProperties == nil:
		s.AdditionalProperties = nothing
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return nil, fmt.Errorf("its JSON Schema cannot be used: %w", err)
	}
	if err := bounded(&s); err != nil {
		return nil, err
	}
	out := &Schema{resolved: resolved, required: s.Required}
	if !composed && takesNothing(s.AdditionalProperties) {
		out.names = make(map[string]bool, len(s.Properties))
		for name := range s.Properties {
			out.names[name] = true
		}
	}
	return out, nil
}

// takesNothing reports whether a schema is the one that no value satisfies.
func takesNothing(s *jsonschema.Schema) bool {
	if s == nil || s.Not == nil {
		return false
	}
	rest := *s
	rest.Not = nil
	return reflect.ValueOf(*s.Not).IsZero() && reflect.ValueOf(rest).IsZero()
}

// Validate checks the arguments of a call, and returns them: an empty text is the
// empty object. The error names the property at fault, since the model that wrote
// the arguments reads it and tries again.
func (s *Schema) Validate(arguments json.RawMessage) (json.RawMessage, error) {
	if len(bytes.TrimSpace(arguments)) == 0 {
		arguments = json.RawMessage("{}")
	}
	if len(arguments) > MaxArguments {
		return nil, fmt.Errorf("they have %d bytes, at most %d are taken", len(arguments), MaxArguments)
	}
	if err := strict(arguments); err != nil {
		return nil, err
	}
	var value any
	if err := json.Unmarshal(arguments, &value); err != nil {
		return nil, err
	}
	object, ok := value.(map[string]any)
	if !ok {
		return nil, errors.New("they must be a JSON object")
	}
	for name := range object {
		if s.names != nil && !s.names[name] {
			return nil, fmt.Errorf("%q is not declared; declared are: %s", name, list(s.names))
		}
	}
	if err := s.missing(object); err != nil {
		return nil, err
	}
	if err := s.resolved.Validate(object); err != nil {
		return nil, errors.New(Problem(err.Error()))
	}
	return arguments, nil
}

// Declares reports whether an object may have a property of a name. Of a schema that is composed of others it is not worked out: it may.
func (s *Schema) Declares(name string) bool { return s.names == nil || s.names[name] }

// missing names all that is left out and may not be, so that nobody is told of one after the other.
func (s *Schema) missing(object map[string]any) error {
	var names []string
	for _, name := range s.required {
		if _, there := object[name]; !there {
			names = append(names, strconv.Quote(name))
		}
	}
	switch len(names) {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s is required and missing", names[0])
	}
	return fmt.Errorf("%s are required and missing", strings.Join(names, ", "))
}

func list(names map[string]bool) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(slices.Sorted(maps.Keys(names)), ", ")
}
