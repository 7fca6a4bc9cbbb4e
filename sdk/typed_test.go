package sdk

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestTyped(t *testing.T) {
	for _, c := range []struct{ properties, text, want string }{
		{``, ``, `{}`}, {``, ` `, `{}`}, {``, `x`, `it takes none`},
		{`"city":{}`, `New York in May`, `{"city":"New York in May"}`},
		{`"city":{}`, `city=Bern`, `{"city":"Bern"}`}, {`"city":{}`, `city="New York"`, `{"city":"New York"}`}, {`"city":{}`, `city=Bern x`, `no argument for "x": it takes city`},
		{`"z":{},"a":{}`, `one two three`, `{"a":"two three","z":"one"}`}, {`"z":{},"a":{}`, `a=1 two three`, `{"a":"1","z":"two three"}`},
		{`"z":{},"a":{}`, `"one two" 'three  four'`, `{"a":"three  four","z":"one two"}`}, {`"z":{},"a":{}`, `other=1`, `{"z":"other=1"}`},
		{`"z":{}`, `don't`, `{"z":"don't"}`}, {`"z":{}`, `"open`, `has no end`},
	} {
		spec := ToolSpec{Name: "t", Parameters: json.RawMessage(`{"type":"object","properties":{` + c.properties + `}}`)}
		raw, err := spec.Typed(c.text)
		got := string(raw)
		if err != nil {
			got = err.Error()
		}
		if got != c.want && (err == nil || !strings.Contains(got, c.want)) {
			t.Errorf("%s %q: %s, want %s", c.properties, c.text, got, c.want)
		}
	}
}

// FuzzTyped: whatever is typed is an object of texts or an error.
func FuzzTyped(f *testing.F) {
	f.Add(`{"type":"object","properties":{"a":{},"b":{}}}`, `a=1 "x y" z`)
	f.Fuzz(func(t *testing.T, schema, text string) {
		raw, err := ToolSpec{Name: "t", Parameters: json.RawMessage(schema)}.Typed(text)
		var given map[string]string
		if err == nil && json.Unmarshal(raw, &given) != nil {
			t.Errorf("%q is %s", text, raw)
		}
	})
}
