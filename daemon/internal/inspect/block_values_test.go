package inspect

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"

	"github.com/bothyd/bothy/sdk"
)

// one is a schema of one attribute.
func one(a sdk.ConfigAttribute) *sdk.ConfigSchema {
	a.Name = "a"
	return &sdk.ConfigSchema{Attributes: []sdk.ConfigAttribute{a}}
}

// TestValues: each type takes what means it, and of the rest says in words what was given,
// and what to write.
func TestValues(t *testing.T) {
	eval := &hcl.EvalContext{Variables: map[string]cty.Value{
		"unknown": cty.UnknownVal(cty.String), "marked": cty.StringVal("m").Mark("secret"), "set": cty.SetVal([]cty.Value{cty.StringVal("s")}),
		"some": cty.ListVal([]cty.Value{cty.StringVal("l"), cty.UnknownVal(cty.String)}),
	}, Functions: map[string]function.Function{"upper": stdlib.UpperFunc}}
	for _, c := range []struct{ kind, text, want, fails string }{
		{"string", `"x"`, `"x"`, ""},
		{"string", `""`, `""`, ""},
		{"string", `upper("x")`, `"X"`, ""},
		{"string", `marked`, `"m"`, ""},
		{"string", `true`, "", "a: it must be a text, and this is true or false, which needs quotation marks."},
		{"string", `[]`, "", "a: it must be a text, and this is a list."},
		{"string", `{}`, "", "a: it must be a text, and this is a map."},
		{"string", `unknown`, "", "a: value is not known."},
		{"number", `-1e3`, `-1000`, ""},
		{"number", `1 / 3`, `0.`, ""},
		{"number", `"5"`, "", "a: it must be a number, and this is a text: take its quotation marks away."},
		{"number", `true`, "", "a: it must be a number, and this is true or false."},
		{"bool", `false`, `false`, ""},
		{"bool", `1`, "", "a: it must be true or false, and this is a number."},
		{"bool", `"yes"`, "", "a: it must be true or false, and this is a text."},
		{"duration", `"1h30m"`, `"1h30m0s"`, ""},
		{"duration", `"-5s"`, `"-5s"`, ""},
		{"duration", `""`, "", `a: it must be a duration with a unit, such as "30s" or "5m".`},
		{"duration", `"5 minutes"`, "", `a: it must be a duration with a unit, such as "30s" or "5m".`},
		{"duration", `true`, "", `a: it must be a duration such as "30s", and this is true or false.`},
		{"list(string)", `set`, `["s"]`, ""},
		{"list(string)", `["a", 1]`, `["a","1"]`, ""},
		{"list(string)", `some`, "", "a: value is not known."},
		{"list(string)", `[["a"]]`, "", `a: it must be a list of texts such as ["a", "b"], and one of its values is a list.`},
		{"list(string)", `"a"`, "", "this is a text."},
		{"map(string)", `{ x = "y" }`, `{"x":"y"}`, ""},
		{"map(string)", `{ x = null }`, "", "one of its values is null."},
		{"map(string)", `{ x = ["y"] }`, "", `a: it must be a map of texts such as { a = "b" }, and one of its values is a list.`},
		{"map(string)", `["x"]`, "", "this is a list."},
		{"list(number)", `[1]`, "", `a: it is declared with the type "list(number)", which this version does not know.`},
		{"", `"x"`, "", `declared with the type "", which this version does not know.`},
	} {
		got, _, diags := Spec{Instance: "x", Body: body(t, "a = "+c.text), Eval: eval}.Decode(one(sdk.ConfigAttribute{Type: c.kind}))
		if c.fails == "" && (diags.HasErrors() || !strings.HasPrefix(string(got), `{"a":`+c.want)) {
			t.Errorf("%s = %s: %s %v", c.kind, c.text, got, diags)
		}
		if c.fails != "" && (len(diags) != 1 || !strings.HasSuffix(diags[0].Detail, c.fails) || diags[0].Subject.Start.Line != 1) {
			t.Errorf("%s = %s: %s %v, want %q", c.kind, c.text, got, diags, c.fails)
		}
	}
}

// TestAbsent: what a block leaves out is the plugin's default, as the plugin wrote it, or
// nothing; what it needs is missing.
func TestAbsent(t *testing.T) {
	def := json.RawMessage(`{"any": ["default", 1]}`)
	for name, c := range map[string]struct {
		attribute sdk.ConfigAttribute
		body      hcl.Body
		want      string
		missing   bool
	}{
		"nothing":           {sdk.ConfigAttribute{Type: "string"}, nil, `{}`, false},
		"a default":         {sdk.ConfigAttribute{Type: "string", Default: def}, nil, `{"a":{"any":["default",1]}}`, false},
		"null":              {sdk.ConfigAttribute{Type: "string", Default: def}, body(t, "a = null"), `{"a":{"any":["default",1]}}`, false},
		"null of no type":   {sdk.ConfigAttribute{Type: "none"}, body(t, "a = null"), `{}`, false},
		"a secret default":  {sdk.ConfigAttribute{Type: "string", Secret: true, Default: json.RawMessage(`"known"`)}, nil, `{"a":"known"}`, false},
		"needed":            {sdk.ConfigAttribute{Type: "number", Required: true}, nil, "", true},
		"needed, an empty":  {sdk.ConfigAttribute{Type: "number", Required: true}, body(t, ""), "", true},
		"needed, and null":  {sdk.ConfigAttribute{Type: "number", Required: true}, body(t, "a = null"), "", true},
		"needed and there":  {sdk.ConfigAttribute{Type: "number", Required: true}, body(t, "a = 0"), `{"a":0}`, false},
		"of an unknown one": {sdk.ConfigAttribute{Type: "odd", Required: true}, nil, "", true},
	} {
		got, secrets, diags := Spec{Instance: "x", Body: c.body}.Decode(one(c.attribute))
		if string(got) != c.want || len(secrets) != 0 || diags.HasErrors() != c.missing {
			t.Errorf("%s: %s %q %v", name, got, secrets, diags)
		}
		if c.missing && (diags[0].Summary != "plugin x: missing attribute a" || diags[0].Subject != nil) {
			t.Errorf("%s: %v", name, diags)
		}
	}
	if got, _, diags := (Spec{Instance: "x"}).Decode(nil); string(got) != "{}" || diags.HasErrors() {
		t.Errorf("without a schema: %s %v", got, diags)
	}
	_, _, diags := Spec{Instance: "x", Body: body(t, "a = 1")}.Decode(nil)
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "It declares none.") {
		t.Errorf("of a plugin that declares none: %v", diags)
	}
}

// TestSecrets: each text of a secret value is told, and none stands in what is said of a
// mistake beside it.
func TestSecrets(t *testing.T) {
	for _, c := range []struct {
		kind, text string
		want       []string
	}{
		{"string", `"hidden"`, []string{"hidden"}},
		{"list(string)", `["hidden", "other"]`, []string{"hidden", "other"}},
		{"map(string)", `{ a = "hidden" }`, []string{"hidden"}},
		{"number", `7`, nil},
		{"bool", `true`, nil},
	} {
		_, secrets, diags := Spec{Instance: "x", Body: body(t, "a = "+c.text)}.Decode(one(sdk.ConfigAttribute{Type: c.kind, Secret: true}))
		slices.Sort(secrets)
		if diags.HasErrors() || !slices.Equal(secrets, c.want) {
			t.Errorf("%s: %q %v", c.text, secrets, diags)
		}
	}
	for kind := range maps.Keys(types) {
		for _, text := range []string{`"hidden"`, `["hidden", null]`, `{ hidden = ["hidden"] }`} {
			_, _, diags := Spec{Instance: "x", Body: body(t, "a = "+text+"\nhidden = 1")}.Decode(one(sdk.ConfigAttribute{Type: kind, Secret: true}))
			for _, d := range diags {
				if said := d.Summary + d.Detail; strings.Contains(strings.ReplaceAll(said, `"hidden"`, ""), "hidden") && !strings.Contains(d.Summary, "Unknown attribute") {
					t.Errorf("%s = %s: it says %s", kind, text, said)
				}
			}
		}
	}
}

// FuzzDecode: whatever stands in a block, what is taken is an object of declared names,
// and what is not is said with its place.
func FuzzDecode(f *testing.F) {
	for _, s := range []string{"url = \"u\"", "url = 1\nfoo {\n}\n", "count = \"5\"\nwait = \"1\"", "tags = [null]", "headers = { a = { b = 1 } }", "url = \"${1 + \"x\"}\"", "on = [for x in [1] : x]"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 4<<10 {
			return // how deep a file may be is the parser's
		}
		file, diags := hclsyntax.ParseConfig(text, "user.hcl", hcl.InitialPos)
		if diags.HasErrors() {
			return
		}
		got, _, diags := Spec{Instance: "x", Body: file.Body, Source: hcl.Range{Filename: "user.hcl"}}.Decode(everyType)
		if diags.HasErrors() {
			for _, d := range diags {
				if d.Subject == nil || d.Summary == "" || got != nil {
					t.Errorf("%q: %v at %v", text, d, d.Subject)
				}
			}
			return
		}
		var object map[string]any
		if err := json.Unmarshal(got, &object); err != nil {
			t.Fatalf("%q became %s: %v", text, got, err)
		}
		for name := range object {
			if !slices.ContainsFunc(everyType.Attributes, func(a sdk.ConfigAttribute) bool { return a.Name == name }) {
				t.Errorf("%q became %s", text, got)
			}
		}
	})
}
