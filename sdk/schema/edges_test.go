package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestCompile: what an author wrote is taken or refused in words for the author.
func TestCompile(t *testing.T) {
	ids := func(n int) string {
		var defs []string
		for i := range n {
			defs = append(defs, fmt.Sprintf(`"d%d":{"$id":"https://x.example/%d"}`, i, i))
		}
		return `{"type":"object","$defs":{` + strings.Join(defs, ",") + `}}`
	}
	for name, c := range map[string]struct{ schema, want string }{ // empty is taken
		"the smallest":        {`{"type":"object"}`, ""},
		"with a draft":        {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{"type":"string"}}}`, ""},
		"unknown keywords":    {`{"type":"object","x-vendor":{"a":[1]},"properties":{"a":{"format":"odd"}}}`, ""},
		"any value":           {`{"type":"object","properties":{"a":true,"b":{},"c":false}}`, ""},
		"as many ids as may":  {ids(mostNamed - 1), ""},
		"too many ids":        {ids(mostNamed + 1), "more than 100 schemas with an $id"},
		"too long":            {`{"type":"object","description":"` + strings.Repeat("x", sdk.MaxSchema) + `"}`, "at most"},
		"no JSON":             {`{"type":"object"`, "the words of its JSON Schema cannot be read: they are no JSON"},
		"two values":          {`{"type":"object"} {}`, "there is more behind the JSON value"},
		"a name twice":        {`{"type":"object","properties":{"a":{},"a":{}}}`, `"a" is given twice`},
		"another type":        {`{"type":"array"}`, "not one of type object"},
		"several types":       {`{"type":["object","null"]}`, "not one of type object"},
		"no type":             {`{"properties":{}}`, "not one of type object"},
		"a type of no kind":   {`{"type":7}`, "its JSON Schema cannot be read"},
		"a list":              {`[]`, "its JSON Schema cannot be read"},
		"a broken pattern":    {`{"type":"object","properties":{"a":{"pattern":"["}}}`, "its JSON Schema cannot be used"},
		"a reference nowhere": {`{"type":"object","properties":{"a":{"$ref":"#/$defs/no"}}}`, "its JSON Schema cannot be used"},
		"one out of the file": {`{"type":"object","properties":{"a":{"$ref":"https://x.example/other"}}}`, "its JSON Schema cannot be used"},
		"into a list":         {`{"type":"object","properties":{"a":{"oneOf":[{"$ref":"#/properties/a/oneOf/1"},{"type":"string"}]}}}`, ""},
		"a list's circle":     {`{"type":"object","properties":{"a":{"oneOf":[{"$ref":"#/properties/a/oneOf/1"},{"$ref":"#/properties/a/oneOf/0"}]}}}`, "refers to itself without end"},
		"behind a list":       {`{"type":"object","properties":{"a":{"oneOf":[{"$ref":"#/properties/a/oneOf/9"}]}}}`, "cannot be used"},
		"of older drafts":     {`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"a":{}},"dependencies":{"a":{"$ref":"#"}}}`, "refers to itself without end"},
	} {
		_, err := Compile(json.RawMessage(c.schema))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// TestUndeclared: a property that a schema does not declare is refused, unless the schema
// says that others are taken, in whichever way it is made.
func TestUndeclared(t *testing.T) {
	for schema, taken := range map[string]bool{
		`{"type":"object"}`: false,
		`{"type":"object","additionalProperties":false}`:                                            false,
		`{"type":"object","additionalProperties":true}`:                                             true,
		`{"type":"object","additionalProperties":{}}`:                                               true,
		`{"type":"object","additionalProperties":{"type":"string"}}`:                                false,
		`{"type":"object","additionalProperties":{"type":"integer"}}`:                               true,
		`{"type":"object","additionalProperties":{"not":{},"type":"integer"}}`:                      false,
		`{"type":"object","patternProperties":{"^b":{}}}`:                                           false,
		`{"type":"object","patternProperties":{"^a":{}}}`:                                           true,
		`{"type":"object","allOf":[{"properties":{"b":{}}}]}`:                                       false,
		`{"type":"object","allOf":[{"properties":{"a":{}}}]}`:                                       true,
		`{"type":"object","allOf":[{}],"unevaluatedProperties":true}`:                               true,
		`{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}}},{}]}`:                     false,
		`{"type":"object","if":{"properties":{"a":{}}},"then":{}}`:                                  true,
		`{"type":"object","$ref":"#/$defs/x","$defs":{"x":{"properties":{"a":{}}}}}`:                true,
		`{"type":"object","$ref":"#/$defs/x","$defs":{"x":{"properties":{"b":{}}}}}`:                false,
		`{"type":"object","properties":{"b":{}},"required":[]}`:                                     false,
		`{"type":"object","properties":{"A":{}}}`:                                                   false,
		`{"type":"object","properties":{"a":{"properties":{"x":{}},"additionalProperties":false}}}`: true,
	} {
		_, err := compiled(t, schema).Validate(json.RawMessage(`{"a":1}`))
		if (err == nil) != taken {
			t.Errorf("%s: %v", schema, err)
		}
	}
}

// TestProblems: a model reads which property is at fault, and not how the schema is built.
func TestProblems(t *testing.T) {
	s := compiled(t, `{"type":"object","properties":{
		"n":{"type":"integer","minimum":2,"maximum":4},"s":{"type":"string","minLength":2,"maxLength":3,"pattern":"^a"},"e":{"enum":["x",1]},
		"l":{"type":"array","items":{"type":"object","required":["k"],"properties":{"k":{"type":"array","items":{"type":"number"}}},"additionalProperties":false},"minItems":1,"maxItems":2,"uniqueItems":true},
		"items":{"type":"boolean"},"properties":{"type":"object","properties":{"properties":{"const":1}}}}}`)
	for arguments, want := range map[string]string{
		`{"n":1}`:                         `property "n": `,
		`{"n":5}`:                         `property "n": `,
		`{"n":2.5}`:                       `property "n": `,
		`{"n":"2"}`:                       `property "n": `,
		`{"s":"a"}`:                       `property "s": `,
		`{"s":"aaaa"}`:                    `property "s": `,
		`{"s":"bb"}`:                      `property "s": `,
		`{"e":"y"}`:                       `property "e": `,
		`{"l":[]}`:                        `property "l": `,
		`{"l":[{"k":[]},{"k":[]}]}`:       `property "l": `,
		`{"l":[{}]}`:                      `property "l[]": `,
		`{"l":[{"k":[1,"x"]}]}`:           `property "l[].k[]": `,
		`{"l":[{"k":[],"z":1}]}`:          `property "l[]`,
		`{"items":1}`:                     `property "items": `,
		`{"properties":{"properties":2}}`: `property "properties.properties": `,
		`[]`:                              "they must be a JSON object",
		`"x"`:                             "they must be a JSON object",
		`{} {}`:                           "there is more behind the JSON value",
		`{"n":2,`:                         "they are no JSON",
		strings.Repeat(`{"l":`, 70):       "they are nested deeper than 64 levels",
		`{"n":2,"N":2}`:                   `"N" is not declared; declared are: e, items, l, n, properties, s`,
		`{"n":2,"n":3}`:                   `"n" is given twice`,
		`{"n":2,"\u006e":3}`:              `"n" is given twice`,
	} {
		_, err := s.Validate(json.RawMessage(arguments))
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%.60s: %v, want %s", arguments, err, want)
			continue
		}
		for _, inner := range []string{"validating", "root", "#/", "$defs"} {
			if strings.Contains(err.Error(), inner) {
				t.Errorf("%.60s: it tells of the schema: %v", arguments, err)
			}
		}
	}
	for _, empty := range []string{"", " \n", "{}"} {
		if got, err := s.Validate(json.RawMessage(empty)); err != nil || string(got) != "{}" {
			t.Errorf("%q: %s %v", empty, got, err)
		}
	}
	for path, want := range map[string]string{"": "", "/": "", "/properties": "", "/properties/a": "a", "/items/items": "[][]", "/$defs/x/properties/b": "b", "/properties/a/properties/items": "a.items"} {
		if got := propertyOf(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// FuzzCompile: a schema is a stranger's; whatever it says, it is refused, or judges a value
// and comes to an end.
func FuzzCompile(f *testing.F) {
	for _, s := range []string{
		`{"type":"object","properties":{"a":{"$ref":"#"}}}`, `{"type":"object","allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}}}`,
		`{"type":"object","$id":"https://x.example/s","properties":{"a":{"$dynamicRef":"#x","$dynamicAnchor":"x"}}}`, `{"type":"object","patternProperties":{"(a*)*b":{}}}`,
		`{"type":"object","dependentSchemas":{"a":{"not":{"$ref":"#"}}},"unevaluatedProperties":{"$ref":"#/dependentSchemas/a"}}`,
	} {
		f.Add([]byte(s))
	}
	deep := json.RawMessage(`{"a":` + strings.Repeat(`{"a":[`, 15) + `1` + strings.Repeat(`]}`, 15) + `}`)
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Compile(text)
		if err != nil {
			return
		}
		for _, arguments := range []json.RawMessage{nil, deep, []byte(`{"a":"` + strings.Repeat("a", 1000) + `"}`)} {
			if got, err := s.Validate(arguments); err == nil && !json.Valid(got) {
				t.Errorf("%s took %s", text, got)
			}
		}
	})
}
