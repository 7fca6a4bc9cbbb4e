package inspect

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/bothyd/bothy/sdk"
)

// body parses the inside of a block that begins in line 1.
func body(t testing.TB, text string) hcl.Body {
	t.Helper()
	f, diags := hclsyntax.ParseConfig([]byte(text), "user.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return f.Body
}

var everyType = &sdk.ConfigSchema{Attributes: []sdk.ConfigAttribute{
	{Name: "url", Type: "string", Required: true, Doc: "Where the server is."},
	{Name: "key", Type: "string", Secret: true},
	{Name: "count", Type: "number", Default: json.RawMessage(`3`)},
	{Name: "on", Type: "bool"},
	{Name: "wait", Type: "duration", Default: json.RawMessage(`"5s"`)},
	{Name: "tags", Type: "list(string)"},
	{Name: "headers", Type: "map(string)", Secret: true},
}}

// TestDecodeBounds: what an attribute may be beside its type holds, and an attribute that is
// the daemon's own is never taken.
func TestDecodeBounds(t *testing.T) {
	low, high := 1.0, 8.0
	bounded := &sdk.ConfigSchema{Attributes: []sdk.ConfigAttribute{
		{Name: "style", Type: "string", Enum: []string{"plain", "bold"}, Default: json.RawMessage(`"plain"`)},
		{Name: "indent", Type: "number", Minimum: &low, Maximum: &high},
	}}
	for text, want := range map[string]string{
		"style = \"bold\"\nindent = 8": "",
		`style = "loud"`:               `style: it must be one of "plain", "bold".`,
		`indent = 99`:                  "indent: it must be from 1 to 8.",
		`indent = "many"`:              "indent: it must be a number, and this is a text.",
	} {
		_, _, diags := Spec{Instance: "x", Body: body(t, text)}.Decode(bounded)
		if diags.HasErrors() != (want != "") || want != "" && (diags[0].Detail != want || diags[0].Subject.Start.Line != 1) {
			t.Errorf("%s: %v, want %q", text, diags, want)
		}
	}
	_, _, diags := Spec{Instance: "x", Body: body(t, "")}.Decode(&sdk.ConfigSchema{Attributes: []sdk.ConfigAttribute{{Name: "path", Type: "string", Required: true}}})
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, `declares the attribute "path", which is the daemon's own`) {
		t.Error(diags)
	}
}

func TestDecode(t *testing.T) {
	eval := &hcl.EvalContext{Variables: map[string]cty.Value{"k": cty.StringVal("hidden-key")}}
	for _, c := range []struct {
		text, want string
		secrets    int
	}{
		{`url = "u"`, `{"count":3,"url":"u","wait":"5s"}`, 0},
		{`url = "u"
count = 1.5
on = true
wait = "90s"
tags = ["a", "b"]`, `{"count":1.5,"on":true,"tags":["a","b"],"url":"u","wait":"1m30s"}`, 0},
		{"url = \"u\"\nkey = k\nheaders = { A = \"hidden-a\", \"b-c\" = \"hidden-b\" }", `{"count":3,"headers":{"A":"hidden-a","b-c":"hidden-b"},"key":"hidden-key","url":"u","wait":"5s"}`, 3},
		{"url = \"u\"\ncount = null\ntags = []", `{"count":3,"tags":[],"url":"u","wait":"5s"}`, 0},
		{"url = \"u\"\ncount = 9007199254740993", `{"count":9007199254740993,"url":"u","wait":"5s"}`, 0},
	} {
		got, secrets, diags := Spec{Instance: "x", Body: body(t, c.text), Eval: eval}.Decode(everyType)
		if diags.HasErrors() || string(got) != c.want || len(secrets) != c.secrets {
			t.Errorf("%s\n got %s %d secrets %v\nwant %s %d", c.text, got, len(secrets), diags, c.want, c.secrets)
		}
	}
}

func TestDecodeMistakes(t *testing.T) {
	for _, c := range []struct {
		text, want string
		line       int
	}{
		{"url = \"u\"\nfoo = 1", `declares no attribute "foo", and the daemon has none for such a block. It declares: url, key, count, on, wait, tags, headers.`, 2},
		{"url = \"u\"\ntags = []\ntaggs = []", `The nearest is "tags".`, 3},
		{"url = \"u\"\ngrnts = []", `The nearest is "grants".`, 2},
		{"url = \"u\"\ntaggs = []", `The nearest is "tags".`, 2},
		{"url = 5", "url: it must be a text, and this is a number, which needs quotation marks.", 1},
		{"url = \"u\"\ncount = \"three\"", "count: it must be a number, and this is a text.", 2},
		{"url = \"u\"\non = \"true\"", "on: it must be true or false, and this is a text: take its quotation marks away.", 2},
		{"url = \"u\"\nwait = 30", `wait: it must be a duration such as "30s", and this is a number.`, 2},
		{"url = \"u\"\nwait = \"30\"", `wait: it must be a duration with a unit, such as "30s" or "5m".`, 2},
		{"url = \"u\"\ntags = \"a\"", `tags: it must be a list of texts such as ["a", "b"], and this is a text.`, 2},
		{"url = \"u\"\ntags = [null]", "one of its values is null", 2},
		{"url = \"u\"\nheaders = [1]", `headers: it must be a map of texts such as { a = "b" }, and this is a list.`, 2},
		{"url = \"u\"\nkey = nothing", "Variables not allowed", 2},
		{"url = \"u\"\nblock {}", `Blocks of type "block" are not expected here`, 2},
		{"count = 1", `needs the attribute "url", a string. Where the server is.`, 7},
	} {
		_, _, diags := Spec{Instance: "x", Body: body(t, c.text), Source: hcl.Range{Filename: "user.hcl", Start: hcl.Pos{Line: 7}}}.Decode(everyType)
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, c.want) && !strings.Contains(diags[0].Summary, c.want) {
			t.Errorf("%q: %v, want %q", c.text, diags, c.want)
			continue
		}
		if s := diags[0].Subject; s == nil || s.Filename != "user.hcl" || s.Start.Line != c.line {
			t.Errorf("%q: at %v, want line %d", c.text, s, c.line)
		}
	}
}
