package answer

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
)

// TestSkillNamesCanBeSwitched: whatever a SKILL.md calls itself, a skill block
// can name it.
func TestSkillNamesCanBeSwitched(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := skill.SafeName(rapid.String().Draw(t, "name"))
		if why := config.SkillNameMistake(name); why != "" {
			t.Fatalf("%+q: %s", name, why)
		}
	})
}

func TestIsSo(t *testing.T) {
	yes, no := true, false
	block := config.Skills{Blocks: map[string]config.SkillBlock{"on": {Enabled: &yes}, "off": {Enabled: &no}}}
	for _, c := range []struct {
		name      string
		off       bool // as its SKILL.md says
		on, isOff bool
	}{
		{"other", false, true, false}, {"other", true, false, true},
		{"on", true, true, false}, {"on", false, true, false},
		{"off", true, false, true}, {"off", false, false, true},
	} {
		d := &skill.Document{SkillDocument: sdk.SkillDocument{Skill: sdk.Skill{Name: c.name}}, Off: c.off}
		if on, off := isSo(d, block, true), isSo(d, block, false); on != c.on || off != c.isOff {
			t.Errorf("%+v: on %v, off %v", c, on, off)
		}
	}
}

func TestUnknownSkill(t *testing.T) {
	var all []*skill.Document
	for _, name := range []string{"explain", "review-change", "技能-обзор"} {
		all = append(all, &skill.Document{SkillDocument: sdk.SkillDocument{Skill: sdk.Skill{Name: name, Status: sdk.SkillEnabled}}})
	}
	c := skill.NewCatalogue(all)
	for name, want := range map[string]string{
		"explian": `there is no skill "explian"; did you mean explain?`,
		"explan":  `there is no skill "explan"; did you mean explain?`,
		"Review":  `there is no skill "Review"; did you mean review-change?`,
		"":        `there is no skill "": ` + "`bothy skills list -a` shows what there is",
	} {
		if _, _, err := counting(c, name); err == nil || err.Error() != want || sdk.OutcomeOf(err) != sdk.NotFound {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// TestCounting: of one name the skill is told that is in force, though one that
// is not trusted stands before it.
func TestCounting(t *testing.T) {
	doc := func(tier sdk.SkillTier, status sdk.SkillStatus) *skill.Document {
		return &skill.Document{SkillDocument: sdk.SkillDocument{Skill: sdk.Skill{Name: "a", Tier: tier, Status: status}}}
	}
	all := []*skill.Document{doc(sdk.TierWorkspace, sdk.SkillUntrusted), doc(sdk.TierUser, sdk.SkillDisabled), doc(sdk.TierBundled, sdk.SkillShadowed)}
	d, others, err := counting(skill.NewCatalogue(all), "a")
	if err != nil || d != all[1] || len(others) != 2 || others[0] != all[0] || others[1] != all[2] {
		t.Errorf("%v %v %v", d, others, err)
	}
	if d, _, err := counting(skill.NewCatalogue(all[:1]), "a"); err != nil || d != all[0] {
		t.Errorf("%v %v", d, err)
	}
}
