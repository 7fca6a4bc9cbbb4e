package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// heldKeys are keys that a test changes.
type heldKeys struct {
	values   map[string]string
	expected []string
}

func (h *heldKeys) Expect(names []string) { h.expected = names }

func (h *heldKeys) Find(name string) (string, error) {
	if v := h.values[name]; v != "" {
		return v, nil
	}
	return "", fmt.Errorf("no %s", name)
}

func (h *heldKeys) Place(name string) string {
	if h.values[name] == "" {
		return ""
	}
	return "in the drawer"
}

// withKeys reads a file, without the built-in configuration.
func withKeys(t *testing.T, keys *heldKeys, text string) *Config {
	t.Helper()
	cfg, diags := loadFrom(Source{Defaults: []byte(text), DefaultsName: "d", Getenv: environment("E", "from the environment"), Secrets: &Secrets{}, Keys: keys})
	if cfg == nil {
		t.Fatal(diags)
	}
	return cfg
}

const withSecrets = `
provider "a" {
  plugin  = "openai"
  api_key = secret("A_KEY")
}
provider "b" {
  plugin  = "openai"
  api_key = "${secret("B_KEY")}:${secret("A_KEY")}"
}
provider "off" {
  enabled = false
  api_key = secret("OFF_KEY")
}
provider "plain" {
  api_key = "written here"
}
provider "free" {}
plugin "bot" {
  env     = { TOKEN = secret("BOT_KEY") }
  grants  = ["secrets"]
  secrets = ["ASKED_KEY"]
  confine {
    paths = ["/${secret("PATH_KEY")}"]
  }
}
mcp "on" {
  command = "x"
  env     = { TOKEN = secret("BOT_KEY") }
}
mcp "off" {
  command = "x"
  env     = { TOKEN = secret("OFF_KEY") }
  enabled = false
}
`

func TestWhoAsksForAKey(t *testing.T) {
	keys := &heldKeys{values: map[string]string{"A_KEY": "a-value", "BOT_KEY": "bot-value", "PATH_KEY": "p"}}
	cfg := withKeys(t, keys, withSecrets)
	for name, users := range map[string][]string{
		"A_KEY": {"provider a", "provider b"}, "B_KEY": {"provider b"}, "BOT_KEY": {"mcp on", "plugin bot"}, "ASKED_KEY": {"plugin bot"}, "PATH_KEY": {"plugin bot"}, "OFF_KEY": nil,
	} {
		if !slices.Equal(cfg.KeyUses[name], users) {
			t.Errorf("%s is asked for by %v, want %v", name, cfg.KeyUses[name], users)
		}
	}
	if want := []string{"A_KEY", "BOT_KEY", "B_KEY", "OFF_KEY", "PATH_KEY"}; !slices.Equal(keys.expected, want) {
		t.Errorf("expected %v, want %v", keys.expected, want)
	}
	if got := cfg.Keyless(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("without a key are %v", got)
	}
	for i, place := range map[int]string{0: "in the drawer", 1: "", 3: "in its block of the configuration", 4: ""} {
		if got := cfg.KeyPlace(cfg.Providers[i]); got != place {
			t.Errorf("the key of %s is %q, want %q", cfg.Providers[i].Label, got, place)
		}
	}
}

// TestOverriddenKeysAreNotAskedFor: what a later file writes in the place of a secret.
func TestOverriddenKeysAreNotAskedFor(t *testing.T) {
	cfg, diags := load(t, "provider \"groq\" {\n  api_key = secret(\"OWN_KEY\")\n}\nprovider \"xai\" {\n  enabled = false\n}\n")
	if cfg == nil {
		t.Fatal(diags)
	}
	if cfg.KeyUses["GROQ_API_KEY"] != nil || cfg.KeyUses["XAI_API_KEY"] != nil || cfg.KeyUses["OWN_KEY"] == nil || cfg.KeyUses["OPENAI_API_KEY"] == nil {
		t.Errorf("asked for: %v", cfg.KeyUses)
	}
}

// TestAKeyThatChangesChangesItsBlocks and no others.
func TestAKeyThatChangesChangesItsBlocks(t *testing.T) {
	keys := &heldKeys{values: map[string]string{"A_KEY": "a-value", "B_KEY": "b-value", "BOT_KEY": "bot-value", "PATH_KEY": "p"}}
	was := withKeys(t, keys, withSecrets)
	for _, c := range []struct {
		name, value string
		changes     []string
	}{
		{"B_KEY", "another", []string{"provider b changed"}},
		{"A_KEY", "", []string{"provider a changed", "provider b changed"}},
		{"ASKED_KEY", "given", []string{"plugin bot changed"}},
		{"ASKED_KEY", "given", nil},
	} {
		keys.values[c.name] = c.value
		now := withKeys(t, keys, withSecrets)
		var changes []string
		for _, x := range Diff(was, now) {
			changes = append(changes, x.String())
		}
		if !slices.Equal(changes, c.changes) {
			t.Errorf("%s = %q changes %v, want %v", c.name, c.value, changes, c.changes)
		}
		was = now
	}
}

// TestNoKeys: who gives no keys reads a configuration that asks for none, and where it does asks in vain.
func TestNoKeys(t *testing.T) {
	cfg, diags := Load(Source{Defaults: []byte("provider \"a\" {\n  plugin  = \"openai\"\n  api_key = secret(\"HOME\")\n}\n"), DefaultsName: "d", Getenv: environment("HOME", "x"), Secrets: &Secrets{}})
	if cfg == nil || len(cfg.KeyUses["HOME"]) != 1 || cfg.KeyPlace(cfg.Providers[0]) != "" {
		t.Fatal(cfg, diags)
	}
	if _, err := cfg.Secret("HOME"); err == nil || !strings.Contains(err.Error(), "the secret HOME is not set") {
		t.Error(err)
	}
}
