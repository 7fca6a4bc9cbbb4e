package config

import (
	"reflect"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestInherits: what a block does not say is as the one has it that it names, whichever stands first.
func TestInherits(t *testing.T) {
	cfg, diags := small(t, `
agent "narrow" {
  inherits  = "wide"
  tools     = ["read_file"]
  persona   = null
  max_turns = 3
  finish {
    schema = "{\"type\": \"object\", \"required\": [\"b\"]}"
  }
}
agent "wide" {
  inherits    = "default"
  description = "Does all."
  tools       = ["*"]
  persona     = "You do all."
  mode        = "interactive"
  max_turns   = 9
  max_strikes = 7
  finish {
    schema = { type = "object", properties = { n = { type = "integer", maximum = 3 } } }
    prove  = ["citations"]
  }
}
agent "other" {
  inherits = "wide"
}
`)
	if cfg == nil {
		t.Fatal(diags.Error())
	}
	got, wide, other := cfg.Agents["narrow"], cfg.Agents["wide"], cfg.Agents["other"]
	if got.Description != "Does all." || got.Persona != "" || got.Mode != sdk.ModeInteractive || !reflect.DeepEqual(got.Tools, []string{"read_file"}) || got.Guards.MaxTurns != 3 || got.Guards.MaxStrikes != 7 {
		t.Errorf("narrow is %+v", got)
	}
	if string(got.Finish.Schema) != `{"type":"object","required":["b"]}` || got.Finish.Prove != nil {
		t.Errorf("narrow hands back %s, proven by %v", got.Finish.Schema, got.Finish.Prove)
	}
	if want := `{"properties":{"n":{"maximum":3,"type":"integer"}},"type":"object"}`; string(wide.Finish.Schema) != want {
		t.Errorf("wide hands back %s, want %s", wide.Finish.Schema, want)
	}
	if other.Name = "wide"; !reflect.DeepEqual(other, wide) {
		t.Errorf("other is %+v, want %+v", other, wide)
	}
	from := cfg.Origins["narrow"].Attributes
	for attribute, line := range map[string]string{"tools": ":4", "mode": ":16", "max_turns": ":6", "max_strikes": ":18", "finish": ":7", "description": ":13"} {
		if !strings.HasSuffix(from[attribute], "config.hcl"+line) {
			t.Errorf("%s of narrow is from %q, want line %s", attribute, from[attribute], line)
		}
	}
	if from["max_calls"] != "" && from["max_cost"] != "default" || from["persona"] != "" || !cfg.Origins["default"].Bundled || cfg.Origins["narrow"].Bundled {
		t.Errorf("the origins are %+v", cfg.Origins)
	}
}

// TestInheritedMistakes: what is wrong with a block is told once, there, however many inherit it.
func TestInheritedMistakes(t *testing.T) {
	for text, says := range map[string]string{
		"agent \"a\" {\n  inherits = \"b\"\n}\nagent \"b\" {\n  mode = \"ask\"\n}\nagent \"c\" {\n  inherits = \"a\"\n}\n":   "config.hcl:5:",
		"agent \"a\" {\n  inherits = \"b\"\n}\nagent \"b\" {\n  inherits = \"c\"\n}\nagent \"c\" {\n  inherits = \"a\"\n}\n": "config.hcl:8:",
		"agent \"a\" {\n  inherits = \"b\"\n}\nagent \"b\" {\n  tools = \"x\"\n}\n":                                          "config.hcl:5:",
		"agent \"a\" {\n  finish {\n  }\n}\n": "Missing required argument",
		"agent \"a\" {\n  finish {\n    schema = { type = \"object\" }\n  }\n  finish {\n    schema = { type = \"object\" }\n  }\n}\n": "one finish block",
	} {
		cfg, diags := small(t, text)
		if cfg != nil || len(diags) != 1 || !strings.Contains(diags.Error(), says) {
			t.Errorf("%s: %d diagnostics, want one that says %q:\n%s", text, len(diags), says, diags.Error())
		}
	}
}

// TestAgentsElsewhere: an agent may delegate to one that does not stand in the configuration, where there is one.
func TestAgentsElsewhere(t *testing.T) {
	for name, ok := range map[string]bool{"reviewer": true, "brought": true, "nobody": false, "default": true} {
		path := t.TempDir() + "/config.hcl"
		writeFile(t, path, "plugin \"p\" {\n  agents = [\"brought\"]\n}\nagent \"a\" {\n  agents = [\""+name+"\"]\n}\n")
		cfg, diags := loadFrom(Source{
			Defaults: []byte("agent \"default\" {}\n"), DefaultsName: "built-in", Path: path, Getenv: environment(), Secrets: &Secrets{},
			Agents: func(cfg *Config) []string {
				if !cfg.Skills.Claude {
					t.Error("the settings are not there yet")
				}
				return []string{"reviewer"}
			},
		})
		if (cfg != nil) != ok {
			t.Errorf("agents = [%q]: %s", name, diags.Error())
		}
	}
}
