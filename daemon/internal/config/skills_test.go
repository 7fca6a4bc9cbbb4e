package config

import (
	"maps"
	"strings"
	"testing"
)

func TestSkillBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		text, says string
		want       map[string]bool // nil: it cannot be used
	}{
		"off":                {"skill \"review\" {\n  enabled = false\n}\n", "", map[string]bool{"review": false}},
		"on":                 {"skill \"review\" {\n  enabled = true\n}\n", "", map[string]bool{"review": true}},
		"says nothing":       {"skill \"review\" {\n}\n", "", map[string]bool{}},
		"another script":     {"skill \"技能-обзор\" {\n  enabled = false\n}\n", "", map[string]bool{"技能-обзор": false}},
		"taken apart":        {"skill \"re\u0301sume\u0301\" {\n  enabled = false\n}\n", "", map[string]bool{"r\u00e9sum\u00e9": false}},
		"capitals":           {"skill \"Review\" {\n}\n", "1:7: error: Unusable name", nil},
		"spaces":             {"skill \"re view\" {\n}\n", "skills list -a", nil},
		"a template's signs": {"skill \"a$${b}\" {\n}\n", "1:7: error: Unusable name", nil},
		"not UTF-8":          {"skill \"a\xff\" {\n}\n", "error", nil},
		"a mistake":          {"skill \"review\" {\n  enabeld = false\n}\n", "2:3: error", nil},
		"no truth value":     {"skill \"review\" {\n  enabled = \"perhaps\"\n}\n", "2:14: error", nil},
		"no name":            {"skill \"\" {\n}\n", "1:7: error: Unusable name", nil},
		"what hides":         {"skill \"a\u200bb\" {\n}\n", "1:7: error: Unusable name", nil},
		"too long":           {"skill \"" + strings.Repeat("x", 65) + "\" {\n}\n", "1:7: error: Unusable name", nil},
		"twice":              {"skill \"a\" {\n}\nskill \"a\" {\n}\n", "Block given twice", nil},
	} {
		cfg, diags := load(t, c.text)
		if (cfg != nil) != (c.want != nil) || !strings.Contains(diags.Error(), c.says) || c.says == "" && len(diags) > 0 {
			t.Errorf("%s: usable %v\n%s", name, cfg != nil, diags.Error())
		} else if cfg != nil && !maps.EqualFunc(cfg.Skills.Blocks, c.want, func(b SkillBlock, want bool) bool { return b.Enabled != nil && *b.Enabled == want }) {
			t.Errorf("%s: %+v, want %v", name, cfg.Skills.Blocks, c.want)
		}
	}
}

func TestSwitched(t *testing.T) {
	yes, no := true, false
	s := Skills{Blocks: map[string]SkillBlock{"on": {Enabled: &yes}, "off": {Enabled: &no}}}
	if on, off, none := s.Switched("on"), s.Switched("off"), s.Switched("none"); on == nil || !*on || off == nil || *off || none != nil {
		t.Errorf("%v %v %v", on, off, none)
	}
}

func TestSkillSettings(t *testing.T) {
	cfg, _ := load(t, "")
	if s := cfg.Skills; !s.Agents || !s.Claude || !s.Bundled || s.Budget != 2 {
		t.Errorf("defaults: %+v", s)
	}
	cfg, diags := load(t, "skills {\n  agents = false\n  claude = \"false\"\n  budget = 0.5\n}\n", "BOTHY_SKILLS_BUNDLED", "false")
	if cfg == nil || cfg.Skills.Agents || cfg.Skills.Claude || cfg.Skills.Bundled || cfg.Skills.Budget != 0.5 {
		t.Errorf("%+v\n%s", cfg, diags.Error())
	}
	for _, text := range []string{"agents = 1", "agents = \"perhaps\"", "agents = null", "budget = 0", "budget = 101", "budget = true", "budget = \"NaN\"", "folders = []"} {
		if cfg, diags := load(t, "skills {\n  "+text+"\n}\n"); cfg != nil || len(diags) != 1 || !strings.Contains(diags.Error(), ":2:") {
			t.Errorf("%s:\n%s", text, diags.Error())
		}
	}
}
