package host

import (
	"encoding/json"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

const plainSchema = `{"type":"object","properties":{"text":{"type":"string","description":"d"},"n":{"type":"integer"},"x":{"type":"number"},"on":{"type":"boolean"}},
	"required":["text"],"additionalProperties":false}`

// offeredWith is a tool with a schema, with and without the quick way.
func offeredWith(t testing.TB, schema string) (quickly, slowly *offered) {
	t.Helper()
	o := &offered{remote: "t", Tool: sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "t", Parameters: json.RawMessage(schema)}}}
	if err := o.compile(); err != nil {
		t.Fatal(err)
	}
	slow := *o
	slow.quick = nil
	return o, &slow
}

// TestQuick: what the quick way takes, and what it leaves to the schema.
func TestQuick(t *testing.T) {
	o, _ := offeredWith(t, plainSchema)
	for arguments, taken := range map[string]bool{
		`{"text":"a"}`: true, ` { "text" : "a" , "n" : -12 , "x":1.5,"on":false } `: true, `{"text":"\"}\\","on":true}`: true,
		`{}`: false, `{"text":1}`: false, `{"text":"a","more":1}`: false, `{"text":"a","text":"b"}`: false,
		`{"text":"a","n":1.0}`: false, `{"text":"a","n":1e3}`: false, `{"text":"a","x":1e999}`: false, `{"text":"a","n":12345678901234567890}`: false,
		`{"text":null}`: false, `{"text":["a"]}`: false, `[]`: false, `1`: false, `{"text":"a"`: false, `{"text":"a"} {}`: false, `{"te\u0078t":"a"}`: false,
		`{"text":"a","on":null}`: false, `{"text":"a","x":"1"}`: false,
	} {
		if got := o.quick.takes([]byte(arguments)); got != taken {
			t.Errorf("%s: taken %v", arguments, got)
		}
	}
	for _, schema := range []string{
		`{"type":"object","properties":{"a":{"type":"string","minLength":1}}}`, `{"type":"object","properties":{"a":{"type":"array"}}}`,
		`{"type":"object","properties":{"a":{"type":"string","enum":["x"]}}}`, `{"type":"object","properties":{"a":{"type":["string","null"]}}}`,
		`{"type":"object","minProperties":1}`, `{"type":"object","anyOf":[{"required":["a"]}]}`, `{"type":"object","additionalProperties":true}`,
		`{"type":"object","properties":{"a":true}}`, `{"type":"object","required":["a"],"properties":{}}`,
	} {
		if o, _ := offeredWith(t, schema); o.quick != nil {
			t.Errorf("the quick way judges by %s", schema)
		}
	}
}

// TestQuickAgrees: the quick way takes nothing that the schema refuses.
func TestQuickAgrees(t *testing.T) {
	o, slow := offeredWith(t, plainSchema)
	value := rapid.SampledFrom([]string{`"a"`, `"\u0000\\"`, `1`, `-0`, `1.0`, `0.25`, `1e2`, `true`, `false`, `null`, `[]`, `{}`, `"text"`, `123456789012345678`, `-`, `1.`})
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
		if _, err := slow.validate(json.RawMessage(text)); err != nil && o.quick.takes([]byte(text)) {
			t.Fatalf("%s is taken, but: %v", text, err)
		}
	})
}

// FuzzQuick is TestQuickAgrees for any bytes.
func FuzzQuick(f *testing.F) {
	f.Add([]byte(`{"text":"a","n":1,"x":-1.5,"on":true}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		o, slow := offeredWith(t, plainSchema)
		if _, err := slow.validate(b); err != nil && o.quick.takes(b) {
			t.Fatalf("%q is taken, but: %v", b, err)
		}
	})
}
