package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

func TestPolicyBlock(t *testing.T) {
	cfg, diags := load(t, "")
	if len(diags) > 0 || cfg.Policy != (Policy{Mode: sdk.ModeWorkspace, Expiry: 24 * time.Hour, AnswerWithin: 5 * time.Minute}) {
		t.Fatalf("%+v\n%s", cfg.Policy, diags.Error())
	}
	if cfg.Agents["default"].Mode != sdk.ModeWorkspace || cfg.Agents["chat"].Mode != sdk.ModeWorkspace || cfg.Agents["chat"].WithoutView != sdk.ModeInteractive || len(cfg.Rules) > 0 {
		t.Errorf("the built-in agents are %v and %v, the rules %v", cfg.Agents["default"].Mode, cfg.Agents["chat"].Mode, cfg.Rules)
	}
	const dangerous = "policy {\n  allow_dangerous = true\n}\n"
	for name, c := range map[string]struct {
		text, says string
		usable     bool
		mode       sdk.Mode // of the agent default
	}{
		"another mode":        {"policy {\n  mode = \"interactive\"\n}\n", "", true, sdk.ModeInteractive},
		"a mode of its own":   {"policy {\n  mode = \"interactive\"\n}\nagent \"default\" {\n  mode = \"restricted\"\n}\n", "", true, sdk.ModeRestricted},
		"full":                {"policy {\n  mode = \"full\"\n  allow_dangerous = true\n}\n", "", true, sdk.ModeFull},
		"workspace":           {"policy {\n  mode = \"workspace\"\n}\n", "", true, sdk.ModeWorkspace},
		"in its place":        {"agent \"default\" {\n  without_view = \"interactive\"\n}\n", "", true, sdk.ModeWorkspace},
		"no place of its own": {"agent \"default\" {\n  without_view = \"full\"\n}\n", "2:18: error: Wrong value", false, ""},
		"full, allowed below": {"agent \"default\" {\n  mode = \"full\"\n}\n" + dangerous, "", true, sdk.ModeFull},
		"full, not allowed":   {"policy {\n  mode = \"full\"\n}\n", "2:3: error: Full mode is not allowed", false, ""},
		"an agent, likewise":  {"agent \"default\" {\n  mode = \"full\"\n}\n", "2:10: error: Full mode is not allowed", false, ""},
		"no mode":             {"policy {\n  mode = \"yolo\"\n}\n", "2:10: error: Wrong value", false, ""},
		"no mode of an agent": {"agent \"default\" {\n  mode = \"ask\"\n}\n", "2:10: error: Wrong value", false, ""},
		"no time":             {"policy {\n  expiry = \"0s\"\n}\n", "2:12: error", false, ""},
		"an unknown name":     {"policy {\n  modes = \"full\"\n}\n", "it has mode, allow_dangerous, expiry, answer_within", false, ""},
		"a shell":             {"sandbox {\n  shell = \"zsh\"\n}\n", "2:11: error", false, ""},
		"a workspace":         {"sandbox {\n  workspace = \"none\"\n}\n", "2:15: error", false, ""},
	} {
		cfg, diags := load(t, c.text)
		if (cfg != nil) != c.usable || !strings.Contains(diags.Error(), c.says) {
			t.Errorf("%s: usable %v\n%s", name, cfg != nil, diags.Error())
		} else if cfg != nil && cfg.Agents["default"].Mode != c.mode {
			t.Errorf("%s: the agent has %q", name, cfg.Agents["default"].Mode)
		}
	}
}

// TestModeOfChat: whatever policy.mode is, chat asks at least as much as it says,
// and as its own without_view where that is another mode than workspace.
func TestModeOfChat(t *testing.T) {
	for mode, want := range map[string]sdk.Mode{"interactive": sdk.ModeInteractive, "restricted": sdk.ModeInteractive, "workspace": sdk.ModeWorkspace} {
		cfg, diags := load(t, "policy {\n  mode = \""+mode+"\"\n}\n")
		if cfg == nil || cfg.Agents["chat"].Mode != want || cfg.Agents["default"].Mode != sdk.Mode(mode) {
			t.Errorf("%s: %+v\n%s", mode, cfg.Agents, diags.Error())
		}
	}
}

// TestModeOfTheEnvironment: a variable may say full, and one that may not is
// ignored.
func TestModeOfTheEnvironment(t *testing.T) {
	cfg, diags := load(t, "", "BOTHY_POLICY_MODE", "full")
	if cfg == nil || cfg.Policy.Mode != sdk.ModeWorkspace || !strings.Contains(diags.Error(), "warning: Ignored BOTHY_POLICY_MODE") {
		t.Errorf("full was taken, or nothing was:\n%s", diags.Error())
	}
	cfg, diags = load(t, "", "BOTHY_POLICY_MODE", "full", "BOTHY_POLICY_ALLOW_DANGEROUS", "true")
	if cfg == nil || cfg.Policy.Mode != sdk.ModeFull || cfg.Agents["default"].Mode != sdk.ModeFull || cfg.Agents["chat"].Mode != sdk.ModeInteractive || len(diags) > 0 {
		t.Errorf("full was not taken:\n%s", diags.Error())
	}
}

func TestRuleBlock(t *testing.T) {
	cfg, diags := load(t, `
rule "tests" {
  decision = "allow"
  commands = ["go test", "make *"]
  modes    = ["interactive", "restricted"]
}
rule "all" {
  decision  = "deny"
  tools     = ["files__*"]
  paths     = ["db/**", "*.sql"]
  arguments = { path = "*x*" }
}
`)
	if cfg == nil {
		t.Fatal(diags.Error())
	}
	place := strings.TrimSuffix(cfg.Rules[0].Source, ":2")
	want := []sdk.PolicyRule{
		{Name: "tests", Source: place + ":2", Verdict: sdk.Allow, Commands: []string{"go test", "make *"}, Modes: []sdk.Mode{sdk.ModeInteractive, sdk.ModeRestricted}},
		{Name: "all", Source: place + ":7", Verdict: sdk.Deny, Tools: []string{"files__*"}, Paths: []string{"db/**", "*.sql"}, Arguments: map[string]string{"path": "*x*"}},
	}
	if !reflect.DeepEqual(cfg.Rules, want) {
		t.Errorf("%+v", cfg.Rules)
	}
	for text, says := range map[string]string{
		"tools = [\"bash\"]":                                           `Missing required argument`,
		"decision = \"allowed\"":                                       `2:12: error: Wrong value`,
		"decision = \"allow\"":                                         `1:1: error: A rule that allows everything`,
		"decision = \"allow\"\ntools = [\"*\"]":                        `A rule that allows everything`,
		"decision = \"allow\"\npaths = [\"**\"]":                       `A rule that allows everything`,
		"decision = \"allow\"\npaths = [\"a\"]\ncommands = [\"make\"]": `A rule that never fits`,
		"decision = \"deny\"\ntools = [\"\"]":                          `3:9: error: Wrong value`,
		"decision = \"deny\"\ntools = [\"[a]\"]":                       `3:9: error: Wrong value`,
		"decision = \"deny\"\npaths = [\"/etc/**\"]":                   `relative to the project`,
		"decision = \"deny\"\npaths = [\"~/x\"]":                       `relative to the project`,
		"decision = \"deny\"\npaths = [\"a/../b\"]":                    `relative to the project`,
		"decision = \"deny\"\npaths = [\"a[\"]":                        `is not closed`,
		"decision = \"deny\"\ncommands = [\" \"]":                      `3:12: error: Wrong value`,
		"decision = \"deny\"\ncommands = [\"a && b\"]":                 `the first words of one command`,
		"decision = \"deny\"\nmodes = [\"ask\"]":                       `interactive, restricted, workspace or full`,
		"decision = \"deny\"\narguments = { \"\" = \"x\" }":            `has an empty name`,
		"decision = \"deny\"\nmode = \"full\"":                         `Unsupported argument`,
	} {
		cfg, diags := load(t, "rule \"x\" {\n"+text+"\n}\n")
		if cfg != nil || !strings.Contains(diags.Error(), says) {
			t.Errorf("%s:\n%s", text, diags.Error())
		}
	}
}

// TestRuleDiff: a rule that changed is one change, and where it stands is none.
func TestRuleDiff(t *testing.T) {
	const rule = "rule \"x\" {\n  decision = \"deny\"\n  commands = [\"a\"]\n}\n"
	was, _ := load(t, rule)
	now, _ := load(t, "\n# moved\n"+rule)
	if d := Diff(was, now); len(d) > 0 {
		t.Errorf("%v", d)
	}
	now, _ = load(t, strings.Replace(rule, "\"a\"", "\"b\"", 1))
	if d := Diff(was, now); len(d) != 1 || d[0].String() != "rule x changed" {
		t.Errorf("%v", d)
	}
}
