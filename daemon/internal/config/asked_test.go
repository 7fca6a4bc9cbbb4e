package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestEditsOfAFile: a block is written, changed and taken out again, and what a person
// wrote around it stays.
func TestEditsOfAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "config.hcl")
	const mine = "# mine\nlog {\n  level = \"debug\"\n}\n"
	if err := os.WriteFile(path, []byte(mine), 0o600); err != nil {
		t.Fatal(err)
	}
	yes, no := true, false
	block := PluginEdit{Kind: "plugin", Label: "hello", Path: "/p", SHA256: someDigest, Grants: []string{"models"}, OnUse: &yes}
	off := PluginEdit{Kind: "plugin", Label: "hello", Enabled: &no}
	for _, step := range []struct {
		what    string
		do      func() (bool, error)
		changed bool
		want    string // behind what is mine
	}{
		{"a new block", func() (bool, error) { return SetPlugin(path, block) }, true, "\n" + block.Text()},
		{"the same again", func() (bool, error) { return SetPlugin(path, block) }, false, "\n" + block.Text()},
		{"one attribute more", func() (bool, error) { return SetPlugin(path, off) }, true,
			"\n" + strings.TrimSuffix(block.Text(), "}\n") + "  enabled = false\n}\n"},
		{"the block of another", func() (bool, error) { return RemoveBlock(path, "plugin", "other") }, false,
			"\n" + strings.TrimSuffix(block.Text(), "}\n") + "  enabled = false\n}\n"},
		{"taken out", func() (bool, error) { return RemoveBlock(path, "plugin", "hello") }, true, ""},
		{"a skill off", func() (bool, error) { return SetSkill(path, "tidy", false) }, true, "\nskill \"tidy\" {\n  enabled = false\n}\n"},
		{"as it was", func() (bool, error) { return UnsetSkill(path, "tidy") }, true, ""},
		{"no block to unset", func() (bool, error) { return UnsetSkill(path, "tidy") }, false, ""},
	} {
		changed, err := step.do()
		text, readErr := os.ReadFile(path)
		if err != nil || readErr != nil || changed != step.changed || strings.TrimRight(string(text), "\n") != strings.TrimRight(mine+step.want, "\n") {
			t.Fatalf("%s: changed %v, %v %v\n%s", step.what, changed, err, readErr, text)
		}
	}
	if _, err := SetPlugin(path, PluginEdit{Kind: "plugin", Label: "No Label"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Error(err)
	}
	person := mine + "skill \"tidy\" {\n  enabled = false # since May\n}\n"
	if err := os.WriteFile(path, []byte(person), 0o600); err != nil {
		t.Fatal(err)
	}
	if changed, err := UnsetSkill(path, "tidy"); changed || err != nil {
		t.Errorf("a block with a person's note went: %v", err)
	}
}

func TestPrices(t *testing.T) {
	for text, want := range map[string]string{
		"prompt = 1\ncompletion = 2":               "",
		"prompt = 1\ncached = 0.1\ncompletion = 2": "",
		"prompt = -1\ncompletion = 2":              "price: prompt is -1 and cannot be negative",
		"prompt = 1\ncached = -2\ncompletion = 2":  "price: cached is -2",
		"prompt = 1\ncompletion = 1e39":            "price: completion is 1e+39",
		"prompt = 1":                               "completion",
	} {
		cfg, diags := load(t, "model \"m\" {\n  provider = \"openai\"\n  name = \"x\"\n  price {\n"+text+"\n  }\n}\n")
		if (cfg == nil) != (want != "") || want != "" && !strings.Contains(diags.Error(), want) {
			t.Errorf("%q: %v", text, diags)
		}
	}
}

// TestNeedsStart: what a running daemon cannot take over is said, where it stands.
func TestNeedsStart(t *testing.T) {
	began, diags := load(t, "")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for text, want := range map[string][]string{
		"":                              nil,
		"log {\n  level = \"debug\"\n}": nil,
		"store {\n  path = \"/elsewhere/x.db\"\n}": {"config.hcl:2:", "store.path takes effect at the next start", "The daemon goes on with its default. `bothy stop` ends it"},
	} {
		now, diags := load(t, text)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		said := NeedsStart(began, now)
		if len(said) != min(len(want), 1) || said.HasErrors() {
			t.Errorf("%q: %v", text, said)
		}
		for _, part := range want {
			if !strings.Contains(said.Error(), part) {
				t.Errorf("%q: %v, want %q", text, said, part)
			}
		}
	}
}

// TestOrderThatRan: a plugin that was removed and comes back behind the others is where it
// runs; one that comes back between them is so at the next start.
func TestOrderThatRan(t *testing.T) {
	block := func(labels ...string) *Config {
		var text strings.Builder
		for _, l := range labels {
			fmt.Fprintf(&text, "plugin %q {\n  path = \"/p\"\n}\n", l)
		}
		cfg, diags := load(t, text.String())
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return cfg
	}
	began := block("a", "b", "c")
	without := Ran(began, block("a", "c"))
	for _, c := range []struct {
		began, now *Config
		waits      bool
	}{
		{began, block("a", "b", "c"), false}, {began, block("b", "a", "c"), true}, {began, block("a", "c", "b"), true},
		{without, block("a", "c", "b"), false}, {without, block("a", "b", "c"), true}, {without, block("a", "c"), false},
	} {
		ran := Ran(c.began, c.now)
		if said := NeedsStart(ran, c.now); (len(said) > 0) != c.waits {
			t.Errorf("%v: %v", c.now.Plugins, said)
		}
	}
}

// TestProvidersAreLookedAt: what is asked of a block before its plugin runs.
func TestProvidersAreLookedAt(t *testing.T) {
	cfg, diags := load(t, `
provider "near" {
  plugin   = "openai"
  base_url = "http://127.0.0.1:1/v1"
  start    = false
  api_key  = secret("NEAR_KEY")
}
provider "far" {
  plugin  = "openai"
  api_key = secret("FAR_KEY")
}
provider "plain" {
  plugin  = "openai"
  api_key = "text"
}
`, "NEAR_KEY", "n")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	by := map[string]Plugin{}
	for _, p := range cfg.Providers {
		by[p.Label] = p
	}
	if near, far := by["near"], by["far"]; near.BaseURL(cfg.Context) != "http://127.0.0.1:1/v1" || far.BaseURL(cfg.Context) != "" || near.Starts(cfg.Context) || !far.Starts(cfg.Context) {
		t.Errorf("near at %q starts %v, far at %q starts %v", near.BaseURL(cfg.Context), near.Starts(cfg.Context), far.BaseURL(cfg.Context), far.Starts(cfg.Context))
	}
	for label, want := range map[string]string{"near": "in the environment", "far": "", "plain": "in its block of the configuration"} {
		if got := cfg.KeyPlace(by[label]); got != want {
			t.Errorf("%s: its key is %q, want %q", label, got, want)
		}
	}
	if none := (Plugin{}); none.BaseURL(cfg.Context) != "" || cfg.KeyPlace(none) != "" {
		t.Error("a provider without a block has something")
	}
	if _, err := cfg.Secret("FAR_KEY"); sdk.OutcomeOf(err) != sdk.Unavailable || !strings.Contains(err.Error(), "export FAR_KEY") {
		t.Error(err)
	}
	attrs, _ := by["far"].Body.JustAttributes()
	if got := textOf(attrs["api_key"].Expr, cfg.WithoutSecrets()); got != "" {
		t.Errorf("a secret that is not set is %q", got)
	}
	if _, found := attrs["api_key"].Expr.Value(cfg.Context); !found.HasErrors() {
		t.Error("a secret that is not set has a value")
	} else if at := FromHCL(cfg.Files, found[0]); len(at) != 1 || at[0].Line != 10 || !strings.Contains(at[0].Source, "FAR_KEY") {
		t.Errorf("%+v", at)
	}
}

func TestFoldersOfSkills(t *testing.T) {
	cfg, diags := load(t, "skill \"a\" {\n  enabled = false\n}\n")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if is := cfg.Skills.Blocks["a"]; is.Enabled == nil || *is.Enabled || !strings.HasSuffix(is.Place, "config.hcl:1") || cfg.Skills.Blocks["b"].Enabled != nil {
		t.Errorf("%+v", cfg.Skills.Blocks)
	}
	for want, s := range map[string]Skills{".agents/skills .claude/skills": cfg.Skills, ".agents/skills": {Agents: true}, ".claude/skills": {Claude: true}, "": {}} {
		if got := strings.Join(s.Folders(), " "); got != want {
			t.Errorf("the folders are %q, want %q", got, want)
		}
		if got := strings.Join(s.AgentFolders(), " "); got != strings.ReplaceAll(want, "skills", "agents") {
			t.Errorf("the folders of agents are %q, beside %q", got, want)
		}
	}
}

// TestWorkspaceIsReadOnce: for who asks once, with no watcher.
func TestWorkspaceIsReadOnce(t *testing.T) {
	cfg, diags := load(t, "")
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	project := t.TempDir()
	if w, diags := WorkspaceOf(project, cfg); len(diags) > 0 || w.Guards != (sdk.Guards{}) {
		t.Errorf("%+v %v", w, diags)
	}
	file := WorkspaceFile(project)
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("guard {\n  max_turns = 3\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if w, diags := WorkspaceOf(project, cfg); len(diags) > 0 || w.Guards.MaxTurns != 3 {
		t.Errorf("%+v %v", w.Guards, diags)
	}
}
