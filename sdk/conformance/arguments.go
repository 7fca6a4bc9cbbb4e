package conformance

import (
	"encoding/json"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/bothyd/bothy/sdk"
)

// deepest is how far an example goes down a schema that contains itself.
const deepest = 6

// Arguments makes arguments that a tool's schema allows: the required ones
// alone, as small as can be. They mean nothing, so that a tool may well refuse
// them. An error says that none could be made.
func Arguments(spec sdk.ToolSpec) (json.RawMessage, error) {
	schema, err := schemaOf(spec)
	if err != nil {
		return nil, err
	}
	b, err := json.Marshal(example(schema, schema, 0))
	if err != nil {
		return nil, err
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		return nil, err
	}
	var v any
	if err := json.Unmarshal(b, &v); err != nil {
		return nil, err
	}
	if err := resolved.Validate(v); err != nil {
		return nil, Skip("no arguments could be made up for %s: %v", spec.Name, err)
	}
	return b, nil
}

// example is a value that the schema allows, as far as that can be told
// without searching.
func example(root, s *jsonschema.Schema, depth int) any {
	if s == nil || depth > deepest {
		return nil
	}
	switch {
	case s.Const != nil:
		return *s.Const
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.Examples) > 0:
		return s.Examples[0]
	case s.Default != nil:
		return s.Default
	case s.Ref != "":
		return example(root, referred(root, s.Ref), depth+1)
	case len(s.AnyOf) > 0:
		return example(root, s.AnyOf[0], depth+1)
	case len(s.OneOf) > 0:
		return example(root, s.OneOf[0], depth+1)
	}
	kind := s.Type
	if kind == "" && len(s.Types) > 0 {
		kind = s.Types[0]
	}
	switch kind {
	case "object":
		o := map[string]any{}
		for _, name := range s.Required {
			o[name] = example(root, s.Properties[name], depth+1)
		}
		return o
	case "array":
		return elements(root, s, depth)
	case "string":
		return letters(s)
	case "integer", "number":
		return number(s)
	case "boolean":
		return false
	}
	return nil
}

func elements(root, s *jsonschema.Schema, depth int) []any {
	list := []any{}
	if s.MinItems != nil {
		for range min(*s.MinItems, 100) {
			list = append(list, example(root, s.Items, depth+1))
		}
	}
	return list
}

// letters is a text of an allowed length. "." is a good path, and a harmless word.
func letters(s *jsonschema.Schema) string {
	length := 1
	if s.MinLength != nil {
		length = max(length, min(*s.MinLength, 1000))
	}
	return strings.Repeat(".", length)
}

func number(s *jsonschema.Schema) float64 {
	n := 1.0
	if s.Minimum != nil {
		n = max(n, *s.Minimum)
	}
	if s.ExclusiveMinimum != nil {
		n = max(n, *s.ExclusiveMinimum+1)
	}
	if s.Maximum != nil {
		n = min(n, *s.Maximum)
	}
	return n
}

// referred finds "#/$defs/NAME", which is all that generators write.
func referred(root *jsonschema.Schema, ref string) *jsonschema.Schema {
	for _, defs := range []struct {
		prefix string
		of     map[string]*jsonschema.Schema
	}{{"#/$defs/", root.Defs}, {"#/definitions/", root.Definitions}} {
		if name, ok := strings.CutPrefix(ref, defs.prefix); ok {
			return defs.of[name]
		}
	}
	return nil
}
