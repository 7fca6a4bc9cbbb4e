package schema

import (
	"math"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"
)

// flat are the types of the properties of a schema that asks for types and names
// alone, as most tools' schemas do. It is nil for a schema that asks for more. The
// validator takes as long for such arguments as a tenth of the whole call.
func flat(s *jsonschema.Schema) map[string]string {
	rest := *s
	rest.Type, rest.Properties, rest.Required, rest.AdditionalProperties, rest.PropertyOrder, rest.Schema = "", nil, nil, nil, nil, ""
	if !takesNothing(s.AdditionalProperties) || !takesAll(rest) {
		return nil
	}
	types := make(map[string]string, len(s.Properties))
	for name, p := range s.Properties {
		rest := *p
		if rest.Type = ""; !takesAll(rest) {
			return nil
		}
		types[name] = p.Type
	}
	return types
}

// takesAll reports whether a schema, but for what people read, takes any value.
func takesAll(s jsonschema.Schema) bool {
	s.Title, s.Description, s.Default, s.Examples = "", "", nil, nil
	return reflect.ValueOf(s).IsZero()
}

// isFlat reports whether an object, whose names were checked, satisfies a flat
// schema. What it does not take is for the validator to judge.
func (s *Schema) isFlat(object map[string]any) bool {
	for name, value := range object {
		kind := s.flat[name]
		switch value := value.(type) {
		case string:
			if kind != "string" {
				return false
			}
		case bool:
			if kind != "boolean" {
				return false
			}
		case float64:
			if kind != "number" && (kind != "integer" || value != math.Trunc(value)) {
				return false
			}
		default:
			return false
		}
	}
	return s.flat != nil
}
