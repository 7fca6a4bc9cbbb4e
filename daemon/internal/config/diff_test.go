package config

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/sdk"
)

// usable loads a text that has no mistake.
func usable(t interface{ Fatalf(string, ...any) }, path, text string, env ...string) *Config {
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatalf("%v", err)
	}
	cfg, diags := loadFrom(Source{
		Defaults: bothy.DefaultConfig, DefaultsName: bothy.DefaultConfigName,
		Path: path, Required: true, Getenv: environment(env...), Secrets: &Secrets{},
	})
	if cfg == nil {
		t.Fatalf("%s\n%s", text, diags.Error())
	}
	return cfg
}

func lines(changes []Change) string {
	var out []string
	for _, c := range changes {
		out = append(out, c.String())
	}
	return strings.Join(out, "; ")
}

func TestDiff(t *testing.T) {
	const base = "plugin \"p\" {\n  path = \"/p\"\n  url  = \"a\"\n}\nprovider \"q\" {\n  plugin = \"openai\"\n}\nmodel \"m\" {\n  provider = \"q\"\n}\nagent \"a\" {\n  max_turns = 5\n}\n"
	change := func(from, to string) string {
		if !strings.Contains(base, from) {
			t.Fatalf("the base has no %q", from)
		}
		return strings.Replace(base, from, to, 1)
	}
	for _, c := range []struct{ name, text, want string }{
		{"nothing", base, ""},
		{"comments and layout", "# hello\n\n" + strings.ReplaceAll(base, "  ", "\t"), ""},
		{"the same in other words", change(`"a"`, `"${"a"}"`), ""},
		{"a default that is written down", base + "guard {\n  max_turns = 99\n}\n", ""},
		{"a setting", base + "sandbox {\n  timeout = \"9s\"\n  pids = 3\n}\n", "sandbox changed (pids, timeout)"},
		{"a guard is its agents' as well", base + "guard {\n  consecutive_errors = 8\n}\n", "guard changed (consecutive_errors); agent a changed; agent chat changed; agent default changed; agent engineering changed; agent research changed"},
		{"a setting of skills", base + "skills {\n  agents = false\n  budget = 3\n}\n", "skills changed (agents, budget)"},
		{"a truth in another word", base + "skills {\n  agents = \"true\"\n}\n", ""},
		{"a switched skill", base + "skill \"s\" {\n  enabled = false\n}\n", "skill s added"},
		{"a skill block that says nothing", base + "skill \"s\" {\n}\n", ""},
		{"a plugin's own attribute", change(`"a"`, `"b"`), "plugin p changed"},
		{"one attribute more", change(`"a"`, "\"a\"\n  more = true"), "plugin p changed"},
		{"the type of a value", change(`url  = "a"`, `url = ["a"]`), "plugin p changed"},
		{"a mistake in a block", change(`"a"`, "\"a\"\n  nested {\n  }"), "plugin p changed"},
		{"a grant", change(`"/p"`, "\"/p\"\n  grants = [\"tools\"]"), "plugin p changed"},
		{"a pattern of tools", change(`"/p"`, "\"/p\"\n  tools = []"), "plugin p changed"},
		{"a pattern of models", change(`"/p"`, "\"/p\"\n  models = [\"*\"]"), "plugin p changed"},
		{"on_use", change(`"/p"`, "\"/p\"\n  on_use = true"), "plugin p changed"},
		{"enabled", change(`"/p"`, "\"/p\"\n  enabled = false"), "plugin p changed"},
		{"a plugin less", change("plugin \"p\" {\n  path = \"/p\"\n  url  = \"a\"\n}\n", ""), "plugin p removed"},
		{"a plugin more", base + "plugin \"z\" {\n}\n", "plugin z added"},
		{"a provider's model", change(`"openai"`, "\"openai\"\n  model = \"x\""), "provider q changed"},
		{"a model", change("  provider = \"q\"", "  provider = \"q\"\n  temperature = 0.5"), "model m changed"},
		{"an agent", change("max_turns = 5", "max_turns = 6"), "agent a changed"},
		{"a label", change(`agent "a"`, `agent "b"`), "agent a removed; agent b added"},
		{"a built-in one", base + "plugin \"files\" {\n  enabled = false\n}\n", "plugin files changed"},
	} {
		path := filepath.Join(t.TempDir(), "config.hcl")
		old := usable(t, path, base)
		if got := lines(Diff(old, usable(t, path, c.text))); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestDiffOfSwitches: a skill that is switched again, or no more.
func TestDiffOfSwitches(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.hcl")
	off, on := "skill \"s\" {\n  enabled = false\n}\n", "skill \"s\" {\n  enabled = true\n}\n"
	if got := lines(Diff(usable(t, path, off), usable(t, path, on))); got != "skill s changed" {
		t.Errorf("%q", got)
	}
	if got := lines(Diff(usable(t, path, off), usable(t, path, ""))); got != "skill s removed" {
		t.Errorf("%q", got)
	}
}

// TestDiffOfOrder: the order of plugins decides about the names of tools.
func TestDiffOfOrder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.hcl")
	a, b := "plugin \"a\" {\n}\n", "plugin \"b\" {\n}\n"
	if got := lines(Diff(usable(t, path, a+b), usable(t, path, b+a))); got != "the order of the plugin blocks" {
		t.Errorf("%q", got)
	}
	if got := lines(Diff(usable(t, path, a+b), usable(t, path, b))); got != "plugin a removed" {
		t.Errorf("%q", got)
	}
}

// TestDiffSeesWhatFunctionsComeTo: the same text is another block when a file,
// a variable or a secret is another.
func TestDiffSeesWhatFunctionsComeTo(t *testing.T) {
	dir := t.TempDir()
	path, key := filepath.Join(dir, "config.hcl"), filepath.Join(dir, "key")
	for _, c := range []struct{ expr, want string }{
		{`file("key")`, "plugin p changed"}, {`env("V")`, "plugin p changed"}, {`secret("V")`, "plugin p changed"}, {`"V"`, ""},
	} {
		text := "plugin \"p\" {\n  x = " + c.expr + "\n}\n"
		if err := os.WriteFile(key, []byte("one"), 0o600); err != nil {
			t.Fatal(err)
		}
		old := usable(t, path, text, "V", "first-value")
		if err := os.WriteFile(key, []byte("two"), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := lines(Diff(old, usable(t, path, text, "V", "second-value"))); got != c.want {
			t.Errorf("%s: %q, want %q", c.expr, got, c.want)
		}
	}
	text := "plugin \"p\" {\n  x = secret(\"V\")\n}\n"
	if got := lines(Diff(usable(t, path, text), usable(t, path, text, "V", "now-it-is-set"))); got != "plugin p changed" {
		t.Errorf("a secret that is set at last: %q", got)
	}
}

// TestDiffOfLogins: a block is another with another login, and the same with one that was renewed.
func TestDiffOfLogins(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.hcl")
	text := "mcp \"far\" {\n  url = \"https://far.example/mcp\"\n}\nmcp \"own\" {\n  url = \"https://far.example/mcp\"\n  headers = { authorization = \"Bearer x\" }\n}\n"
	login := func(id, access string) string {
		return sdk.Login{ID: id, Server: "https://far.example/mcp", Access: access}.Text()
	}
	with := func(login string) *Config { return usable(t, path, text, "mcp.far", login, "mcp.own", login) }
	for _, c := range []struct{ was, is, want string }{
		{"", login("a", "one"), "plugin mcp__far changed"},
		{login("a", "one"), login("a", "two"), ""},
		{login("a", "two"), login("b", "three"), "plugin mcp__far changed"},
		{login("b", "three"), "", "plugin mcp__far changed"},
	} {
		if got := lines(Diff(with(c.was), with(c.is))); got != c.want {
			t.Errorf("%s, %s: %q, want %q", c.was, c.is, got, c.want)
		}
	}
	cfg := with(login("a", "one"))
	if logins := cfg.Logins(); len(logins) != 1 || logins["mcp.far"] != "mcp far" {
		t.Errorf("logins are %v", logins)
	}
	if cfg.KeyUses["mcp.far"] != nil {
		t.Error("a login is asked for as a key")
	}
}

// TestDigestKeepsSecrets: no digest registers, nor shows, a secret.
func TestDigestKeepsSecrets(t *testing.T) {
	var s Secrets
	path := filepath.Join(t.TempDir(), "config.hcl")
	if err := os.WriteFile(path, []byte("plugin \"p\" {\n  x = secret(\"V\")\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg, _ := loadFrom(Source{Path: path, Getenv: environment("V", "some-secret"), Secrets: &s})
	if cfg == nil || s.Redact("some-secret") != "some-secret" {
		t.Error("the secret was asked for before its use")
	}
}

// TestNotedFiles: what file() reads is told, whether it is there or not.
func TestNotedFiles(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "config.hcl")
	text := "plugin \"p\" {\n  x = file(\"absent\")\n}\nagent \"a\" {\n  persona = file(\"/etc/hostname\")\n}\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	var noted []string
	loadFrom(Source{Path: path, Getenv: environment(), Secrets: &Secrets{}, Noted: func(p string) { noted = append(noted, p) }})
	for _, want := range []string{filepath.Join(dir, "absent"), "/etc/hostname"} {
		if !slices.Contains(noted, want) {
			t.Errorf("%s is not among %v", want, noted)
		}
	}
}

// blocks draws the labelled blocks of a configuration, by type and label.
func blocks(t *rapid.T, name string) map[string]string {
	out := map[string]string{}
	for _, label := range []string{"a", "b", "c"} {
		for block, attribute := range map[string]string{"plugin": "x", "provider": "x", "agent": "max_turns"} {
			if v := rapid.IntRange(0, 3).Draw(t, name+block+label); v > 0 {
				out[block+" "+label] = fmt.Sprintf("%s %q {\n  %s = %d\n}\n", block, label, attribute, v)
			}
		}
	}
	return out
}

func text(blocks map[string]string, comment string) string {
	var keys []string
	for k := range blocks {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var b strings.Builder
	for _, k := range keys {
		b.WriteString(comment + blocks[k])
	}
	return b.String()
}

// TestDiffIsWhatChanged: nothing differs from itself; applying what Diff names
// to the old blocks makes the new ones; and backwards, what was added goes.
func TestDiffIsWhatChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.hcl")
	rapid.Check(t, func(t *rapid.T) {
		before, after := blocks(t, "before"), blocks(t, "after")
		old, new := usable(t, path, text(before, "")), usable(t, path, text(after, ""))
		if same := Diff(old, usable(t, path, text(before, "# said again\n\n"))); len(same) != 0 {
			t.Fatalf("a configuration differs from itself: %v", same)
		}
		forth, back := Diff(old, new), Diff(new, old)
		patched := map[string]string{}
		for k, v := range before {
			patched[k] = v
		}
		inverse := map[ChangeKind]ChangeKind{Added: Removed, Removed: Added, Changed: Changed}
		for _, c := range forth {
			key := c.Block + " " + c.Label
			if c.Kind == Removed {
				delete(patched, key)
			} else {
				patched[key] = after[key]
			}
			undone := Change{Block: c.Block, Label: c.Label, Kind: inverse[c.Kind]}
			if !slices.ContainsFunc(back, func(b Change) bool { return b.String() == undone.String() }) {
				t.Fatalf("%s is not undone by %v", c, back)
			}
		}
		if len(forth) != len(back) || text(patched, "") != text(after, "") {
			t.Fatalf("%v leads from\n%s to\n%s, and not to\n%s", forth, text(before, ""), text(patched, ""), text(after, ""))
		}
	})
}
