package sdk

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestCheckJSON(t *testing.T) {
	for text, want := range map[string]*JSONFault{
		`{"a":{"a":[1,{"a":2},{"a":3}]},"b":"a"}`: nil,
		`[]`:                       nil,
		`"a"`:                      nil,
		``:                         {Kind: JSONSyntax},
		`{"a":1`:                   {Kind: JSONSyntax, Offset: 6},
		`{"a":1}}`:                 {Kind: JSONSyntax, Offset: 7},
		`{"a":1} 2`:                {Kind: JSONSyntax, Offset: 8},
		`{"a" 1}`:                  {Kind: JSONSyntax, Offset: 5},
		`{"a":1,"a":`:              {Kind: JSONSyntax, Offset: 11},
		`{"a":1,"a":2}`:            {Kind: JSONTwice, Name: "a", Offset: 10},
		`[{"":1,"":2}]`:            {Kind: JSONTwice, Name: "", Offset: 9},
		`{"a":1,"\u0061":{"b":2}}`: {Kind: JSONTwice, Name: "a", Offset: 15},
		`[[[[[]]]]]`:               {Kind: JSONDeep, Offset: 5},
		`[[[[1[`:                   {Kind: JSONSyntax, Offset: 5},
		`[[[[[1[`:                  {Kind: JSONDeep, Offset: 5},
		strings.Repeat("[", 99999): {Kind: JSONDeep, Offset: 5},
	} {
		got := CheckJSON([]byte(text), 4)
		if (got == nil) != (want == nil) || got != nil && (got.Kind != want.Kind || got.Name != want.Name || got.Offset != want.Offset || (got.Err != nil) != (got.Kind == JSONSyntax)) {
			t.Errorf("%.40q: %+v, want %+v", text, got, want)
		}
	}
}

// FuzzCheckJSON compares it with what encoding/json reads token by token.
func FuzzCheckJSON(f *testing.F) {
	for _, text := range []string{
		`{"a":[1,{"b":null}],"c":"d"}`, `{"a":1,"a":2}`, `{"a":1} {"a":1}`, `{"a","a":1}`, `{[[[[[`, `[[[[[[1e999]]]]]]`,
		`{"a\\":1,"a\\\\":2}`, `{"\"":1,"\u0022":2}`, `{"\/":1,"/":2}`, `{"{":"}","[":",","{":0}`, `{"x":{"y":1},"y":2,"x":3}`,
		`{"\ud800":1,"\udc00":2}`, `{"\ud83d\ude00":1,"😀":2}`, "{\"\xff\":1,\"\ufffd\":2}", "{\"\xff\":1,\"\xfe\":2}", `{"a`, `{"a\`, `"`, ``,
	} {
		f.Add([]byte(text))
	}
	const depth = 5
	f.Fuzz(func(t *testing.T, text []byte) {
		got := CheckJSON(text, depth)
		if !json.Valid(text) {
			if got == nil || got.Kind == JSONTwice || (got.Kind == JSONSyntax) != (got.Err != nil) || got.Offset < 0 || got.Offset > len(text) {
				t.Errorf("%q passes: %+v", text, got)
			}
			return
		}
		d := json.NewDecoder(bytes.NewReader(text))
		d.UseNumber()
		if want := faultOf(d, depth); (got == nil) != (want == nil) || got != nil && *got != *want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	})
}

// faultOf is what CheckJSON has to say of the next value of a text that is JSON.
func faultOf(d *json.Decoder, depth int) (first *JSONFault) {
	open, _ := d.Token()
	if _, is := open.(json.Delim); !is {
		return nil
	}
	if depth == 0 {
		return &JSONFault{Kind: JSONDeep, Offset: int(d.InputOffset())}
	}
	names := map[any]bool{}
	for d.More() {
		if open == json.Delim('{') {
			name, _ := d.Token()
			if names[name] && first == nil {
				first = &JSONFault{Kind: JSONTwice, Offset: int(d.InputOffset()), Name: name.(string)}
			}
			names[name] = true
		}
		if inner := faultOf(d, depth-1); first == nil || inner != nil && inner.Kind == JSONDeep {
			if first = inner; first != nil && first.Kind == JSONDeep {
				return first
			}
		}
	}
	_, _ = d.Token() // which closes it
	return first
}

func TestReadJSON(t *testing.T) {
	type value struct {
		A int
		B map[string]json.Number
	}
	for text, want := range map[string]string{
		`{"A":1,"B":{"x":1.50}}`:   "",
		` {"a":1} `:                "",
		`{"A":1,"A":1}`:            `an object has two members called "A"`,
		`{"B":{"x":1,"x":1}}`:      `an object has two members called "x"`,
		`{"A":1} {}`:               "after top-level value",
		`{"C":1}`:                  "unknown field",
		`{"A":"1"}`:                "cannot unmarshal",
		`{"A":1`:                   "unexpected end",
		strings.Repeat("[", 20000): "max depth",
	} {
		var v value
		err := ReadJSON([]byte(text), &v)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", text, err, want)
		}
		if err == nil && v.A != 1 {
			t.Errorf("%q: %+v", text, v)
		}
	}
}

func TestAnyJSON(t *testing.T) {
	v, err := AnyJSON([]byte(`{"a":[1.50,null]}`))
	if object, ok := v.(map[string]any); err != nil || !ok || object["a"].([]any)[0] != json.Number("1.50") {
		t.Errorf("%v %v", v, err)
	}
	for _, text := range []string{``, `{`, `1 2`, `{}]`} {
		if v, err := AnyJSON([]byte(text)); err == nil {
			t.Errorf("%q: %v", text, v)
		}
	}
}
