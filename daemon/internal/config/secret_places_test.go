package config

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/bothyd/bothy/sdk"
)

// TestFunctions: what each comes to, and what is said when it comes to nothing.
func TestFunctions(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("HOME", filepath.Join(dir, "home"))
	writeFile(t, filepath.Join(dir, "note"), "one\ntwo\r\n\n")
	writeFile(t, filepath.Join(dir, "home", "own"), "mine")
	writeFile(t, filepath.Join(dir, "huge"), strings.Repeat("x", MaxFile+1))
	for expr, want := range map[string]string{
		`env("E")`: "set", `env("EMPTY")`: "", `env("NONE", "else")`: "else", `env("E", "else")`: "set", `env("NONE", env("E"))`: "set",
		`file("note")`: "one\ntwo", `file("~/own")`: "mine", `file("` + dir + `/note")`: "one\ntwo",
		`secret("E")`: "set", `secret("NONE", "else")`: "else", `secret(env("NONE", "E"))`: "set", `"<${secret("E")}>"`: "<set>",
		`env("NONE")`:             "!the environment variable NONE is not set; export it before the daemon starts",
		`env("E", "a", "b")`:      "!env takes a name and at most one default",
		`secret("E", "a", "b")`:   "!secret takes a name and at most one default",
		`secret("NONE")`:          "!the secret NONE is not set: export NONE",
		`secret("EMPTY")`:         "!the secret EMPTY is not set",
		`file("gone")`:            "!no such file",
		`file("huge")`:            "!1 MiB",
		`file("` + dir + `")`:     "!no regular file",
		`file("gone", "default")`: "!Too many function arguments",
		`env()`:                   "!Not enough function arguments",
		`env(null)`:               "!must not be null",
		`exec("id")`:              "!no function named",
	} {
		path := filepath.Join(dir, "config.hcl")
		writeFile(t, path, "sandbox {\n  image = "+expr+"\n}\n")
		cfg, diags := loadFrom(Source{Path: path, Getenv: environment("E", "set", "EMPTY", ""), Secrets: &Secrets{}})
		if why, fails := strings.CutPrefix(want, "!"); fails {
			if cfg != nil || !strings.Contains(diags.Error(), why) || diags[0].Line != 2 {
				t.Errorf("%s: %s, want %q", expr, diags.Error(), why)
			}
		} else if cfg == nil || cfg.Sandbox.Image != want {
			t.Errorf("%s: %s, want %q", expr, diags.Error(), want)
		}
	}
}

// TestNoSecretIsShown: whatever is made of a configuration for people, or to compare it with
// another, has no value of a secret in it, and what is not asked for is not known.
func TestNoSecretIsShown(t *testing.T) {
	const canary, other = "canary-8d21-value", "canary-77aa-other"
	text := `
sandbox {
  image = "registry/${secret("CANARY")}"
}
protect {
  ask = ["${secret("CANARY")}/**"]
}
provider "p" {
  plugin  = "openai"
  api_key = secret("CANARY")
  headers = { "x-key" = "Bearer ${secret("OTHER")}" }
}
plugin "q" {
  secrets = ["CANARY"]
  env     = { KEY = secret("CANARY") }
}
`
	secrets := &Secrets{}
	path := filepath.Join(t.TempDir(), "config.hcl")
	writeFile(t, path, text)
	cfg, diags := loadFrom(Source{Path: path, Getenv: environment("CANARY", canary, "OTHER", other), Secrets: secrets})
	if cfg == nil {
		t.Fatal(diags)
	}
	shown, err := json.Marshal(cfg.Values)
	if err != nil || strings.Contains(string(shown), canary) || !strings.Contains(string(shown), "registry/[secret]") || !strings.Contains(string(shown), "[secret]/**") {
		t.Errorf("%s %v", shown, err)
	}
	now, diags := loadFrom(Source{Path: path, Getenv: environment("CANARY", other, "OTHER", canary), Secrets: secrets})
	if now == nil {
		t.Fatal(diags)
	}
	changes := lines(Diff(cfg, now))
	if changes != "sandbox changed (image); protect changed (ask); plugin q changed; provider p changed" {
		t.Errorf("%s", changes)
	}
	for _, p := range slices.Concat(cfg.Plugins, cfg.Providers) {
		if strings.Contains(p.Digest, "canary") || len(p.Digest) != 64 {
			t.Errorf("the sum of %s is %s", p.Label, p.Digest)
		}
	}
	if _, err := cfg.Secret("NONE"); sdk.OutcomeOf(err) != sdk.Unavailable || strings.Contains(err.Error(), canary) {
		t.Errorf("%v", err)
	}
	if got, err := cfg.Secret("OTHER"); err != nil || got != other || secrets.Redact(other) != "[secret]" {
		t.Errorf("%s %v", got, err)
	}
	attrs := cfg.Providers[0].attributes()
	if v, diags := attrs["api_key"].Expr.Value(cfg.WithoutSecrets()); diags.HasErrors() || v.AsString() != canary {
		t.Errorf("a secret that is set is lost: %v", diags)
	}
	for kind, want := range map[string]string{"CANARY": "plugin q; protect; provider p; sandbox", "OTHER": "provider p"} {
		if got := strings.Join(cfg.KeyUses[kind], "; "); got != want {
			t.Errorf("%s is asked for by %s, want %s", kind, got, want)
		}
	}
}

// TestWhatABlockComesTo: what only its plugin knows is read as far as it can be now.
func TestWhatABlockComesTo(t *testing.T) {
	for assigned, want := range map[string]struct {
		base   string
		starts bool
	}{
		`base_url = "http://x"`: {"http://x", true}, `base_url = env("B")`: {"http://b", true}, `base_url = env("NONE")`: {"", true},
		`base_url = secret("NONE")`: {"", true}, `base_url = 7`: {"", true}, `base_url = null`: {"", true}, `base_url = ["x"]`: {"", true},
		`start = false`: {"", false}, `start = true`: {"", true}, `start = "false"`: {"", true}, `start = null`: {"", true}, `start = nothing`: {"", true},
	} {
		cfg := usable(t, filepath.Join(t.TempDir(), "config.hcl"), "provider \"p\" {\n  plugin = \"openai\"\n  "+assigned+"\n}\n", "B", "http://b")
		p := cfg.Providers[len(cfg.Providers)-1]
		if got := p.BaseURL(cfg.Context); got != want.base || p.Starts(cfg.Context) != want.starts {
			t.Errorf("%s: at %q, starts %v", assigned, got, p.Starts(cfg.Context))
		}
	}
	if v := valueOf(hclExpr(t, `[for x in nothing : x]`), nil); !v.IsNull() || textOf(hclExpr(t, `"${nothing}"`), nil) != "" {
		t.Errorf("%#v", v)
	}
	if v := valueOf(hclExpr(t, `1 == 1`), nil); !v.RawEquals(cty.True) {
		t.Errorf("%#v", v)
	}
}

// TestDefaultPath is where people look for it.
func TestDefaultPath(t *testing.T) {
	for name, c := range map[string]struct{ xdg, home, want string }{
		"as it is usual": {"", "/home/x", "/home/x/.config/bothy/config.hcl"}, "moved": {"/etc/x", "/home/x", "/etc/x/bothy/config.hcl"}, "nowhere": {"", "", ""},
	} {
		t.Setenv("XDG_CONFIG_HOME", c.xdg)
		t.Setenv("HOME", c.home)
		got, err := DefaultPath()
		if got != c.want || (err == nil) != (c.want != "") || err != nil && !strings.Contains(err.Error(), "set HOME or XDG_CONFIG_HOME") {
			t.Errorf("%s: %q %v", name, got, err)
		}
	}
}

// TestResolve: a path means the same wherever the daemon was started.
func TestResolve(t *testing.T) {
	t.Setenv("HOME", "/home/x")
	for path, want := range map[string]string{
		"~/a": "/home/x/a", "~": "/etc/bothy/~", "~y/a": "/etc/bothy/~y/a", "/a/../b": "/a/../b", "a": "/etc/bothy/a", "../a": "/etc/a", "~/../y": "/home/y", "": "/etc/bothy",
	} {
		if got := Resolve("/etc/bothy", path); got != want {
			t.Errorf("%q is %q, want %q", path, got, want)
		}
	}
	if err := os.Unsetenv("HOME"); err != nil {
		t.Fatal(err)
	}
	if got := Resolve("/etc/bothy", "~/a"); got != "/etc/bothy/~/a" {
		t.Errorf("without a home it is %q", got)
	}
}
