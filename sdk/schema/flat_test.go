package schema

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

const flatSchema = `{"type":"object","properties":{"text":{"type":"string","description":"d"},"n":{"type":"integer"},"x":{"type":"number"},"on":{"type":"boolean"}},
	"required":["text"],"additionalProperties":false}`

// TestNotFlat: what asks for more than types and names is left to the validator.
func TestNotFlat(t *testing.T) {
	if compiled(t, flatSchema).flat == nil {
		t.Error("a flat schema is not known as one")
	}
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`, `{"type":"object","properties":{"a":{"type":"string","enum":["x"]}}}`,
		`{"type":"object","minProperties":1}`, `{"type":"object","anyOf":[{"required":["a"]}]}`, `{"type":"object","additionalProperties":true}`,
		`{"type":"object","properties":{"a":{"type":["string","null"]}}}`, `{"type":"object","properties":{"a":false}}`,
	} {
		if compiled(t, schema).flat != nil {
			t.Errorf("%s is taken for flat", schema)
		}
	}
}

// TestFlatAgrees: what the flat check takes and refuses is what the validator does.
func TestFlatAgrees(t *testing.T) {
	fast, slow := compiled(t, flatSchema), compiled(t, flatSchema)
	slow.flat = nil
	value := rapid.SampledFrom([]string{`"a"`, `"\u0000\\"`, `1`, `-0`, `1.0`, `0.25`, `1e2`, `1e999`, `true`, `false`, `null`, `[]`, `{}`, `123456789012345678`, `-`, `1.`})
	name := rapid.SampledFrom([]string{`"text"`, `"n"`, `"x"`, `"on"`, `"Text"`, `"other"`, `"t\u0065xt"`, `n`})
	gap := rapid.SampledFrom([]string{"", "", " ", "\n\t", ","})
	rapid.Check(t, func(t *rapid.T) {
		text := gap.Draw(t, "before") + "{"
		for n := range rapid.IntRange(0, 4).Draw(t, "members") {
			if n > 0 {
				text += ","
			}
			text += gap.Draw(t, "gap") + name.Draw(t, "name") + ":" + gap.Draw(t, "gap") + value.Draw(t, "value")
		}
		text += "}" + gap.Draw(t, "behind")
		_, quickly := fast.Validate(json.RawMessage(text))
		_, slowly := slow.Validate(json.RawMessage(text))
		if (quickly == nil) != (slowly == nil) {
			t.Fatalf("%s: %v, and the validator says %v", text, quickly, slowly)
		}
	})
}

// BenchmarkValidate takes arguments of about 100 bytes.
func BenchmarkValidate(b *testing.B) {
	fast, slow := compiled(b, flatSchema), compiled(b, flatSchema)
	slow.flat = nil
	arguments := json.RawMessage(`{"text":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa","n":12,"x":1.5,"on":false}`)
	for name, s := range map[string]*Schema{"flat": fast, "validator": slow} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Validate(arguments); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
