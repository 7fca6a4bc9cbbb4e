package answer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

func document(name string, tier sdk.SkillTier, status sdk.SkillStatus, more ...func(*skill.Document)) *skill.Document {
	d := &skill.Document{SkillDocument: sdk.SkillDocument{Skill: sdk.Skill{
		Name: name, Description: "Says what it is for.", Tier: tier, Status: status, Path: fmt.Sprintf("/%s/%s/SKILL.md", tier, name),
		Reason: map[sdk.SkillStatus]string{sdk.SkillUntrusted: "see `bothy trust`"}[status],
	}}}
	for _, change := range more {
		change(d)
	}
	return d
}

// TestReasons holds that what decides stands first, and that the rest follows.
func TestReasons(t *testing.T) {
	no := false
	with := func(change func(*skill.Document)) func(*skill.Document) { return change }
	mistake := with(func(d *skill.Document) {
		d.Diagnostics = []sdk.FileDiagnostic{{Severity: "warning", Message: "odd"}, {Severity: "error", Line: 3, Message: "not closed", Help: "Close it."}}
	})
	enabled := document("x", sdk.TierUser, sdk.SkillEnabled)
	for name, c := range map[string]struct {
		documents []*skill.Document
		change    func(*reasons)
		in        bool
		first     string
		then      string
	}{
		"whole":     {[]*skill.Document{enabled}, nil, true, `in the prompt of agent "a", with its whole description`, "It comes from the user tier: /user/x/SKILL.md"},
		"unknown":   {[]*skill.Document{document("xy", sdk.TierUser, sdk.SkillEnabled)}, nil, false, `There is no skill "x". Did you mean xy?`, "bothy skills paths"},
		"hides":     {[]*skill.Document{enabled, document("x", sdk.TierBundled, sdk.SkillShadowed)}, nil, true, "whole description", "It hides the skill of the bundled tier at /bundled/x"},
		"untrusted": {[]*skill.Document{document("x", sdk.TierWorkspace, sdk.SkillUntrusted)}, nil, false, "`bothy trust`", "/workspace/x/"},
		"beside one that is not trusted": {[]*skill.Document{document("x", sdk.TierWorkspace, sdk.SkillUntrusted), enabled}, nil, true,
			"whole description", "/workspace/x/SKILL.md came with the project and hides nothing"},
		"disabled by itself": {[]*skill.Document{document("x", sdk.TierUser, sdk.SkillDisabled)}, nil, false, "`enabled` in its own SKILL.md", "user tier"},
		"disabled, with one below": {[]*skill.Document{document("x", sdk.TierUser, sdk.SkillDisabled), document("x", sdk.TierBundled, sdk.SkillShadowed)}, nil, false,
			"It is disabled", "It hides the skill of the bundled tier"},
		"disabled below one that is not trusted": {[]*skill.Document{document("x", sdk.TierWorkspace, sdk.SkillUntrusted), document("x", sdk.TierUser, sdk.SkillDisabled)}, nil, false,
			"It is disabled", "hides nothing until `bothy trust`"},
		"broken":      {[]*skill.Document{document("x", sdk.TierUser, sdk.SkillBroken, mistake)}, nil, false, "It cannot be read: /user/x/SKILL.md:3:1: not closed. Close it.", "user tier"},
		"people only": {[]*skill.Document{document("x", sdk.TierUser, sdk.SkillEnabled, with(func(d *skill.Document) { d.PeopleOnly = true }))}, nil, false, "Only people", "user tier"},
		"no use_skill": {[]*skill.Document{enabled}, func(r *reasons) { r.agent.Tools = []string{"bash", "read_*"} }, false,
			"its tools are bash, read_*", "user tier"},
		"another agent's skills": {[]*skill.Document{enabled}, func(r *reasons) { r.agent.Skills = []string{"y"} }, false,
			"may use only the skills that its block names (skills = [y])", "user tier"},
		"the agent's own":            {[]*skill.Document{enabled}, func(r *reasons) { r.agent.Skills = []string{"x"} }, true, "whole description", ""},
		"use_skill by its long name": {[]*skill.Document{enabled}, func(r *reasons) { r.agent.Tools = []string{"bothy__*"} }, true, "whole description", ""},
		"a model without tools":      {[]*skill.Document{enabled}, func(r *reasons) { r.model.Tools = &no }, false, "The model m cannot call tools", "user tier"},
		"no room at all":             {[]*skill.Document{enabled}, func(r *reasons) { r.settings.Budget = 0 }, false, "There is no room for it", "0 percent (skills.budget)"},
		"a context that nobody knows": {[]*skill.Document{enabled}, func(r *reasons) { r.model.Context = 0 }, true, "whole",
			"100000 tokens, which are assumed because m does not say"},
		"no model": {[]*skill.Document{enabled}, func(r *reasons) { r.noModel = errors.New("nothing answers\nat all") }, true, "whole",
			"because there is no model (nothing answers)"},
		"tools that are not there": {[]*skill.Document{document("x", sdk.TierUser, sdk.SkillEnabled, with(func(d *skill.Document) {
			d.ToolsRequired = []string{"bash", "Read", "files__grep", "teleport", "use_skill"}
		}))}, nil, true, "whole", `agent "a" does not have (tools_required): teleport;`},
		"stale": {[]*skill.Document{document("x", sdk.TierUser, sdk.SkillEnabled, mistake, with(func(d *skill.Document) { d.Stale = true }))}, nil, true,
			"whole", "the last good version goes on: /user/x/SKILL.md:3:1: not closed"},
		"code": {[]*skill.Document{document("x", sdk.TierUser, sdk.SkillEnabled, with(func(d *skill.Document) { d.Plugin = "research" }))}, nil, true, "whole", "the plugin research executes it"},
		"code whose plugin is off": {[]*skill.Document{document("x", sdk.TierUser, sdk.SkillEnabled, with(func(d *skill.Document) { d.Plugin = "off" }))}, nil, true,
			"whole", "the plugin off that would execute it is switched off"},
		"code without a plugin": {[]*skill.Document{document("x", sdk.TierUser, sdk.SkillEnabled, with(func(d *skill.Document) { d.Plugin = "none" }))}, nil, true,
			"whole", `no plugin "none" that would execute it`},
	} {
		r := &reasons{
			name: "x", catalogue: skill.NewCatalogue(c.documents), settings: config.Skills{Budget: 2},
			plugins: []config.Plugin{{Label: "research", Enabled: true}, {Label: "off"}},
			agent:   sdk.Agent{Name: "a"}, model: sdk.ModelChoice{Alias: "m", Context: 100_000},
			tools: []sdk.Tool{{Plugin: "bash", ToolSpec: sdk.ToolSpec{Name: "bash"}}, {Plugin: "files", ToolSpec: sdk.ToolSpec{Name: "read_file"}}, {Plugin: "files", ToolSpec: sdk.ToolSpec{Name: "grep"}}},
		}
		if c.change != nil {
			c.change(r)
		}
		got := r.explain()
		if got.InPrompt != c.in || got.Found != (name != "unknown") || (got.Shown != "") != c.in {
			t.Errorf("%s: %+v", name, got)
		}
		if len(got.Reasons) == 0 || !strings.Contains(got.Reasons[0], c.first) || !strings.Contains(strings.Join(got.Reasons, "\n"), c.then) {
			t.Errorf("%s: want %q first and then %q, not\n%s", name, c.first, c.then, strings.Join(got.Reasons, "\n"))
		}
	}
}
