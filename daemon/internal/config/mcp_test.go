package config

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// TestMCP: a block is an instance of the plugin mcp, confined, on its first use.
func TestMCP(t *testing.T) {
	cfg, diags := small(t, `mcp "notes" {
  command = "notes"
  args    = ["a"]
  env     = { A = "b" }
  tools   = ["x_*"]
  grants  = ["models"]
}
mcp "far" {
  url = "https://far"
}
mcp "open" {
  command  = "open"
  confined = false
}
mcp "own" {
  command = "own"
  enabled = false
  confine {
    paths = ["/srv"]
  }
}
agent "writer" {
  mcp = ["notes"]
}
`)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var got []string
	for _, p := range cfg.Plugins {
		confine := "nothing"
		if p.Confine != nil {
			confine = fmt.Sprint(p.Confine.Paths, p.Confine.Network, p.Confine.BestEffort)
		}
		got = append(got, fmt.Sprint(p.Label, " ", p.Binary, " ", p.OnUse, " ", p.Enabled, " ", p.Args, p.Env, p.Tools, p.Grants, " ", confine))
	}
	want := []string{
		"mcp__notes mcp true true [] map[] [] [models tools] [] false true",
		"mcp__far mcp true true [] map[] [] [tools] [] true true",
		"mcp__open mcp true true [] map[] [] [tools] nothing",
		"mcp__own mcp true false [] map[] [] [tools] [/srv] false false",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	attrs, _ := cfg.Plugins[0].Body.JustAttributes()
	for _, name := range []string{"command", "arguments", "environment", "offered", "sampling"} {
		if attrs[name] == nil {
			t.Errorf("the plugin does not get %s", name)
		}
	}
	if a := cfg.Agents["writer"]; !a.UsesMCP("notes") || a.UsesMCP("far") {
		t.Errorf("%+v", a.MCP)
	}
}

func TestMCPMistakes(t *testing.T) {
	for _, c := range []struct{ text, says string }{
		{`mcp "a-b" {}`, "with a single _ between them"},
		{`mcp "a__b" {}`, "with a single _ between them"},
		{`mcp "` + strings.Repeat("a", 33) + `" {}`, "at most 32"},
		{"mcp \"a\" {\n plugin = \"files\"\n}", "an mcp block has no plugin"},
		{"mcp \"a\" {\n path = \"/a\"\n}", "an mcp block has no path"},
		{"mcp \"a\" {\n arguments = []\n}", "an mcp block has args, env and tools"},
		{"mcp \"a\" {\n environment = {}\n}", "an mcp block has args, env and tools"},
		{"mcp \"a\" {\n offered = []\n}", "an mcp block has args, env and tools"},
		{"mcp \"a\" {\n sampling = true\n}", "an mcp block has args, env and tools"},
		{"mcp \"a\" {\n confined = false\n confine {}\n}", "write one of the two"},
		{`plugin "mcp__a" {}`, "write an mcp block"},
		{`provider "mcp__a" {}`, "write an mcp block"},
		{"plugin \"a\" {\n plugin = \"mcp\"\n}", "write an mcp block"},
		{"mcp \"a\" {\n confined = 1.5\n}", "bool required"},
	} {
		if cfg, diags := small(t, c.text); cfg != nil || !strings.Contains(diags.Error(), c.says) {
			t.Errorf("%s: %v", c.text, diags)
		}
	}
}

// TestAddMCP: what is written is read again as it was meant, and all else stays.
func TestAddMCP(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.hcl")
	const before = "# mine\nlog { # loud\n  level = \"debug\"\n}\n"
	writeFile(t, path, before)
	none := "none"
	e := MCPEdit{
		Name: "notes", Command: Text("no\"tes ${x}"), Args: []Expression{Text("-a"), Joined([]Expression{Lookup("env", "HOME", nil), Text("/n%{o}")})},
		Env:     map[string]Expression{"KEY": Lookup("secret", "notes_key", nil), "with space": Lookup("env", "NOT_SET", &none)},
		Timeout: 2 * time.Second, Confine: Confine{Network: true, ReadPaths: []string{"/srv"}},
	}
	if err := AddMCP(path, e); err != nil {
		t.Fatal(err)
	}
	text, _ := os.ReadFile(path)
	if !strings.HasPrefix(string(text), before) {
		t.Errorf("%s", text)
	}
	if err := AddMCP(path, e); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("again: %v", err)
	}
	if err := AddMCP(path, MCPEdit{Name: "a-b"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a name that is none: %v", err)
	}
	cfg, diags := loadFrom(Source{Defaults: []byte("agent \"default\" {}\n"), Path: path, Required: true, Getenv: environment("HOME", "/home/me", "NOTES_KEY", "k"), Secrets: &Secrets{}})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, text)
	}
	p := cfg.Plugins[0]
	attrs, _ := p.Body.JustAttributes()
	for name, want := range map[string]string{"command": `no"tes ${x}`, "timeout": "2s"} {
		if got := textOf(attrs[name].Expr, cfg.Context); got != want {
			t.Errorf("%s is %q", name, got)
		}
	}
	args, _ := attrs["arguments"].Expr.Value(cfg.Context)
	if got := args.AsValueSlice()[1].AsString(); got != "/home/me/n%{o}" {
		t.Errorf("args: %q", got)
	}
	if p.Confine == nil || !p.Confine.Network || !p.Confine.BestEffort || fmt.Sprint(p.Confine.ReadPaths) != "[/srv]" {
		t.Errorf("confine: %+v", p.Confine)
	}
}

// TestJoined: what is written of several parts is read again as it was meant.
func TestJoined(t *testing.T) {
	me := Lookup("env", "ME", nil)
	for want, parts := range map[string][]Expression{
		"cost$me":      {Text("cost$"), me},
		"50%me":        {Text("50%"), me},
		"$$me%%me$":    {Text("$$"), me, Text("%%"), me, Text("$")},
		"a${b}":        {Text("a$"), Text("{b}")},
		"a%{b}me":      {Text("a%"), Text("{b}"), me},
		"${x}%{y}me$ ": {Text("${x}%{y}"), me, Text("$ ")},
		"\"$me\\\"$":   {Text("\"$"), me, Text("\\\"$")},
		"$${x}me":      {Text("$${x}"), me},
		"me%%{x}":      {me, Text("%%{x}")},
		"a\n$me":       {Text("a\n$"), me},
	} {
		path := filepath.Join(t.TempDir(), "config.hcl")
		writeFile(t, path, "")
		if err := AddMCP(path, MCPEdit{Name: "a", Command: Joined(parts)}); err != nil {
			t.Fatal(err)
		}
		text, _ := os.ReadFile(path)
		cfg, diags := small(t, string(text), "ME", "me")
		if diags.HasErrors() {
			t.Errorf("%q: %v\n%s", want, diags, text)
			continue
		}
		attrs, _ := cfg.Plugins[0].Body.JustAttributes()
		if got := textOf(attrs["command"].Expr, cfg.Context); got != want {
			t.Errorf("%q is read as %q:\n%s", want, got, text)
		}
	}
}

// TestServer: what an mcp block starts is known, with no secret and no value of a variable; what
// bothy.lock says of it is of the server, and not of the plugin that runs it.
func TestServer(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.hcl")
	writeFile(t, path, `mcp "a" {
  command = env("SERVER")
  args    = ["-x", "--key=${secret("KEY")}", 5]
  env     = { B = "canary", A = secret("KEY") }
  cwd     = "/w"
}
mcp "b" {
  url     = "https://h/${secret("KEY")}"
  headers = { Authorization = "canary" }
}
mcp "c" {
  command = null
  args    = env("NOT_SET")
}
`)
	writeFile(t, LockPath(path), "version = 2\nplugin \"mcp__a\" {\n  plugin = \"mcp\"\n  digest = \""+strings.Repeat("a", 64)+"\"\n}\n")
	cfg, diags := loadFrom(Source{Defaults: []byte("agent \"default\" {}\n"), Path: path, Required: true, Getenv: environment("SERVER", "/srv/a", "KEY", "canary"), Secrets: &Secrets{}})
	if cfg == nil {
		t.Fatal(diags)
	}
	var got []string
	for _, p := range cfg.Plugins {
		text, err := json.Marshal(p.Server)
		if err != nil || p.Locked != nil || (p.Server.Accepted != nil) != (p.Label == "mcp__a") {
			t.Errorf("%s: %v %+v %+v", p.Label, err, p.Locked, p.Server.Accepted)
		}
		got = append(got, string(text))
	}
	want := []string{
		`{"command":"/srv/a","args":["-x","--key=secret(KEY)","5"],"env":["A","B"],"cwd":"/w"}`, `{"url":"https://h/secret(KEY)","headers":["Authorization"]}`, `{}`,
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}
