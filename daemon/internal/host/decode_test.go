package host

import (
	"context"
	"encoding/json"
	"fmt"
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

func TestDecodeBody(t *testing.T) {
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
		got, secrets, diags := decodeBody(Spec{Instance: "x", Body: body(t, c.text), Eval: eval}, everyType)
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
		{"url = \"u\"\nfoo = 1", `An argument named "foo" is not expected here`, 2},
		{"url = \"u\"\ntaggs = []", `Did you mean "tags"?`, 2},
		{"url = 5", "url must be a string: this is number", 1},
		{"url = \"u\"\ncount = \"three\"", "count must be a number: this is string", 2},
		{"url = \"u\"\non = \"true\"", "on must be a bool", 2},
		{"url = \"u\"\nwait = 30", `write a text with a unit such as "30s"`, 2},
		{"url = \"u\"\nwait = \"30\"", "write it with a unit", 2},
		{"url = \"u\"\ntags = \"a\"", "tags must be a list(string)", 2},
		{"url = \"u\"\ntags = [null]", "one of its values is null", 2},
		{"url = \"u\"\nheaders = [1]", "headers must be a map(string)", 2},
		{"url = \"u\"\nkey = nothing", "Variables not allowed", 2},
		{"url = \"u\"\nblock {}", `Blocks of type "block" are not expected here`, 2},
		{"count = 1", `needs the attribute "url", a string. Where the server is.`, 7},
	} {
		_, _, diags := decodeBody(Spec{Instance: "x", Body: body(t, c.text), Source: hcl.Range{Filename: "user.hcl", Start: hcl.Pos{Line: 7}}}, everyType)
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, c.want) && !strings.Contains(diags[0].Summary, c.want) {
			t.Errorf("%q: %v, want %q", c.text, diags, c.want)
			continue
		}
		if s := diags[0].Subject; s == nil || s.Filename != "user.hcl" || s.Start.Line != c.line {
			t.Errorf("%q: at %v, want line %d", c.text, s, c.line)
		}
	}
}

// TestConfigured: the whole way of a block into a plugin, its secrets told to
// the redactor, its mistakes with their line.
func TestConfigured(t *testing.T) {
	var redacted []string
	good, wrong, refused := spec("good", ""), spec("wrong", ""), spec("refused", "")
	good.Body = body(t, "base_url = \"http://x\"\nkey = \"hidden-key\"\ntags = [\"c\"]")
	wrong.Body = body(t, "base_url = \"http://x\"\n\nkey = 7")
	refused.Body = body(t, "refuse = \"the server answers 401\"")
	r := newRig(t, func(c *Config) { c.Redact = func(v string) { redacted = append(redacted, v) } })
	found := r.Start(context.Background(), []Spec{good, wrong, refused})
	var texts []string
	for _, d := range found {
		if !d.Warning() {
			texts = append(texts, fmt.Sprintf("%s %v %s: %s", d.Instance, d.Subject, d.Summary, d.Detail))
		}
	}
	if len(texts) != 2 || !strings.Contains(texts[0], "wrong user.hcl:3,7-8 Wrong value for key") || !strings.Contains(texts[1], "the server answers 401") {
		t.Errorf("diagnostics %q", texts)
	}
	res := r.mustCall(t, "good__about", ``)
	var about struct {
		Config struct {
			BaseURL string
			Key     string
			Retries int
			Tags    []string
		}
	}
	if err := json.Unmarshal(res.Structured, &about); err != nil {
		t.Fatal(err)
	}
	if c := about.Config; c.BaseURL != "http://x" || c.Key != "hidden-key" || c.Retries != 3 || len(c.Tags) != 1 || c.Tags[0] != "c" {
		t.Errorf("the plugin got %+v", c)
	}
	if len(redacted) != 1 || redacted[0] != "hidden-key" {
		t.Errorf("redacted %q", redacted)
	}
}

// TestManifest: asked once of the binary, then kept; a changed file is asked
// again.
func TestManifest(t *testing.T) {
	r := newRig(t, nil)
	path := copyOf(t, 0o700)
	s := Spec{Instance: "x", Path: path}
	m, err := r.Manifest(context.Background(), s)
	if err != nil || m.Name != "fault" || m.Version != "1.2.3" || len(m.Config.Attributes) != 7 || len(m.Kinds) != 4 {
		t.Fatalf("%+v %v", m, err)
	}
	kept, ok := r.kept(path)
	if !ok || kept.Digest != sha256Of(t, path) {
		t.Fatalf("kept %+v", kept)
	}
	kept.Manifest.Version = "kept"
	r.known[path] = kept
	if m, err = r.Manifest(context.Background(), s); err != nil || m.Version != "kept" {
		t.Errorf("it was asked again: %s %v", m.Version, err)
	}
	kept.Identity = "moved"
	r.known[path] = kept
	if m, err = r.Manifest(context.Background(), s); err != nil || m.Version != "kept" {
		t.Errorf("the same digest was asked again: %s %v", m.Version, err)
	}
	kept.Identity, kept.Digest = "other", "other"
	r.known[path] = kept
	if m, err = r.Manifest(context.Background(), s); err != nil || m.Version != "1.2.3" {
		t.Errorf("a changed file was not asked: %s %v", m.Version, err)
	}
	s.Body = body(t, "base_url = 1")
	if found := r.Check(context.Background(), []Spec{s, {Instance: "y", Plugin: "absent"}}); len(found) != 2 || found[0].Subject.Start.Line != 1 {
		t.Errorf("check found %v", found)
	}
	if n := len(r.Plugins()); n != 0 {
		t.Errorf("%d plugins were started", n)
	}
}
