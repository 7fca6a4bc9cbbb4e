package config

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestContextBlocks: of everybody, of a model beside its attribute of that name, and of an agent, which inherits it.
func TestContextBlocks(t *testing.T) {
	cfg, diags := load(t, `
context {
  prune_at = "0.6"
}
model "m" {
  provider = "ollama"
  context  = 4096
  context {
    ceiling    = 0.7
    keep_turns = 2
  }
}
agent "a" {
  context {
    warn_at = 1
  }
}
agent "b" {
  inherits = "a"
}
`, "BOTHY_CONTEXT_KEEP_TURNS", "3")
	if cfg == nil {
		t.Fatal(diags.Error())
	}
	want := sdk.UsualContextUse
	want.PruneAt, want.KeepTurns = 0.6, 3
	if cfg.Use != want {
		t.Errorf("of everybody: %+v", cfg.Use)
	}
	m := cfg.Models[len(cfg.Models)-1]
	if m.Context != 4096 || m.Use != (sdk.ContextUse{Ceiling: 0.7, KeepTurns: 2}) {
		t.Errorf("of a model: %+v", m)
	}
	for _, name := range []string{"a", "b"} {
		if got := cfg.Agents[name].Context; got != (sdk.ContextUse{WarnAt: 1}) {
			t.Errorf("of agent %s: %+v", name, got)
		}
	}
	if usual, _ := load(t, ""); usual.Use != sdk.UsualContextUse || usual.Agents["default"].Context != (sdk.ContextUse{}) {
		t.Errorf("the default is %+v", usual.Use)
	}
}

// TestContextBlockMistakes are told where they stand, in whichever block.
func TestContextBlockMistakes(t *testing.T) {
	for text, says := range map[string]string{
		"ceiling = 0": "share", "ceiling = 1.1": "share", "prune_at = -1": "share", `warn_at = "much"`: "share", "keep_turns = 0": "at least 1",
		"keep_turns = 1.5": "whole number", "keep = 1": "no attribute", "ceiling = 0.5\n  prune_at = 0.6": "above the ceiling",
	} {
		for _, around := range [][2]string{{"", ""}, {"agent \"a\" {\n", "}\n"}, {"model \"m\" {\n  provider = \"ollama\"\n", "}\n"}} {
			cfg, diags := load(t, around[0]+"context {\n  "+text+"\n}\n"+around[1])
			if cfg != nil || len(diags) != 1 || !strings.Contains(diags.Error(), says) {
				t.Errorf("%s in %q:\n%s", text, around[0], diags.Error())
			}
		}
	}
	for _, of := range []string{"agent \"a\" {\n", "model \"m\" {\n  provider = \"ollama\"\n"} {
		if cfg, diags := load(t, of+"context {\n}\ncontext {\n}\n}\n"); cfg != nil || !strings.Contains(diags.Error(), "one context block") {
			t.Errorf("%s: %s", of, diags.Error())
		}
	}
}
