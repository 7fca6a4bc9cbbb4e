package schema

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func compiled(t testing.TB, text string) *Schema {
	t.Helper()
	s, err := Compile(json.RawMessage(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestUnusableSchemas(t *testing.T) {
	for _, schema := range []string{``, `null`, `5`, `{`, `true`, `{"type":"string"}`, `{"type":"object","properties":{"a":{"$ref":"#/nowhere"}}}`, `{"type":"object","properties":{"a":{"pattern":"("}}}`} {
		if _, err := Compile(json.RawMessage(schema)); err == nil {
			t.Errorf("%q was taken", schema)
		}
	}
}

func TestValidate(t *testing.T) {
	deep := compiled(t, `{"type":"object","required":["a"],"properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"integer"}}}},"c":{"enum":["x","y"]}}}`)
	bounded := compiled(t, `{"type":"object","properties":{"most":{"type":"integer","minimum":1,"maximum":8},"ratio":{"type":"number","maximum":0.5,"multipleOf":0.25}}}`)
	composed := compiled(t, `{"type":"object","allOf":[{"properties":{"a":{"type":"string"}}}],"properties":{"b":{}}}`)
	for _, c := range []struct {
		schema          *Schema
		arguments, want string // an empty want is accepted
	}{
		{deep, `{"a":[{"b":1}]}`, ""},
		{deep, ` {"a":[],"c":"y"} `, ""},
		{deep, `{"a":[{"b":"1"}]}`, `property "a[].b"`},
		{deep, `{"a":[],"c":"z"}`, `property "c"`},
		{deep, `{"c":"x"}`, `"a" is required and missing`},
		{compiled(t, `{"type":"object","required":["a","b","c"],"properties":{"a":{},"b":{},"c":{}}}`), `{"b":1}`, `"a", "c" are required and missing`},
		{deep, `{"a":[],"d":1}`, `"d" is not declared; declared are: a, c`},
		{deep, `{"a":[],"confirm":true}`, `"confirm" is not declared`},
		{deep, `{"a":[],"yolo":true}`, `"yolo" is not declared`},
		{deep, `{"a":[],"run":"another"}`, `"run" is not declared`},
		{deep, ``, `"a" is required and missing`},
		{deep, `null`, "must be a JSON object"},
		{deep, `{"a":[{"b":1,"b":1}]}`, `"b" is given twice`},
		{bounded, `{"most":99}`, `property "most": 99 is greater than 8`},
		{bounded, `{"most":0}`, `property "most": 0 is less than 1`},
		{bounded, `{"most":-40}`, `property "most": -40 is less than 1`},
		{bounded, `{"ratio":0.75}`, `property "ratio": 0.75 is greater than 0.5`},
		{bounded, `{"ratio":0.3}`, `property "ratio": 0.3 is not a multiple of 0.25`},
		{composed, `{"a":"x","b":1}`, ""},
		{composed, `{"a":1}`, `property "a"`},
		{composed, `{"e":1}`, "e"},
		{compiled(t, `{"type":"object","additionalProperties":true}`), `{"anything":1}`, ""},
		{compiled(t, `{"type":"object"}`), `{"anything":1}`, `"anything" is not declared; declared are: none`},
	} {
		_, err := c.schema.Validate(json.RawMessage(c.arguments))
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", c.arguments, err)
			}
			continue
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "000") && !strings.Contains(c.want, "000") {
			t.Errorf("%s: %v, want %q", c.arguments, err, c.want)
		}
	}
	if _, err := deep.Validate(append(append([]byte(`{"a":[],"c":"`), make([]byte, MaxArguments)...), `"}`...)); err == nil {
		t.Error("too much was taken")
	}
}

// TestStrictTakesJSON: what encoding/json writes is never refused.
func TestStrictTakesJSON(t *testing.T) {
	value := rapid.Custom(func(t *rapid.T) any { return randomJSON(t, 4) })
	rapid.Check(t, func(t *rapid.T) {
		b, err := json.Marshal(value.Draw(t, "value"))
		if err != nil {
			t.Fatal(err)
		}
		if err := strict(b); err != nil {
			t.Fatalf("%s: %v", b, err)
		}
	})
}

func randomJSON(t *rapid.T, depth int) any {
	kinds := 6
	if depth == 0 {
		kinds = 4
	}
	switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
	case 0:
		return rapid.String().Draw(t, "text")
	case 1:
		return rapid.Int().Draw(t, "number")
	case 2:
		return rapid.Bool().Draw(t, "bool")
	case 3:
		return nil
	case 4:
		var l []any
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			l = append(l, randomJSON(t, depth-1))
		}
		return l
	}
	m := map[string]any{}
	for range rapid.IntRange(0, 3).Draw(t, "size") {
		m[rapid.String().Draw(t, "key")] = randomJSON(t, depth-1)
	}
	return m
}

// FuzzValidate: arguments are a model's; no text may do more than be refused,
// and what is accepted decodes.
func FuzzValidate(f *testing.F) {
	for _, s := range []string{`{"a":[{"b":1}]}`, `{"a":1,"a":2}`, `{`, `[[`, `{"a":`, "\x00", `{"a":[],"c":"y"} x`, `{"":{}}`} {
		f.Add([]byte(s))
	}
	o := compiled(f, `{"type":"object","properties":{"a":{"type":"array","items":{"type":"object","properties":{"b":{"type":"integer"}}}},"c":{"enum":["x","y"]}}}`)
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := o.Validate(b)
		if err != nil {
			return
		}
		var m map[string]any
		if err := json.Unmarshal(got, &m); err != nil {
			t.Fatalf("%q was accepted: %v", b, err)
		}
		for name := range m {
			if name != "a" && name != "c" {
				t.Fatalf("%q was accepted with the undeclared %q", b, name)
			}
		}
	})
}
