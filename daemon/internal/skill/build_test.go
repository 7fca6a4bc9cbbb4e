package skill

import (
	"fmt"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestDifference: of two catalogues the names are told that came, went or are not what
// they were, each once.
func TestDifference(t *testing.T) {
	found := map[string]*Document{}
	of := func(name, version string, status sdk.SkillStatus) *Document {
		key := name + version
		if found[key] == nil {
			found[key] = &Document{}
		}
		d := enabled(name, version)
		d.Status, d.of = status, found[key]
		return d
	}
	old := NewCatalogue([]*Document{of("a", "1", sdk.SkillEnabled), of("b", "1", sdk.SkillEnabled), of("c", "1", sdk.SkillEnabled), of("d", "1", sdk.SkillEnabled), of("e", "1", sdk.SkillEnabled), of("e", "2", sdk.SkillShadowed)})
	for what, c := range map[string]struct {
		next  []*Document
		told  map[string]bool
		wants string
	}{
		"nothing":           {[]*Document{of("a", "1", sdk.SkillEnabled), of("b", "1", sdk.SkillEnabled), of("c", "1", sdk.SkillEnabled), of("d", "1", sdk.SkillEnabled), of("e", "1", sdk.SkillEnabled), of("e", "2", sdk.SkillShadowed)}, nil, "[] [] []"},
		"all goes":          {nil, nil, "[] [] [a b c d e]"},
		"each of a kind":    {[]*Document{of("0", "1", sdk.SkillEnabled), of("b", "2", sdk.SkillEnabled), of("c", "1", sdk.SkillDisabled), of("d", "1", sdk.SkillEnabled), of("e", "1", sdk.SkillEnabled), of("z", "1", sdk.SkillBroken)}, nil, "[0 z] [b c e] [a]"},
		"but what was told": {[]*Document{of("b", "2", sdk.SkillEnabled), of("e", "2", sdk.SkillEnabled)}, map[string]bool{"b": true, "c": true}, "[] [e] [a d]"},
	} {
		got := difference(old, NewCatalogue(c.next), c.told)
		if text := fmt.Sprint(got.Added, got.Changed, got.Removed); text != c.wants {
			t.Errorf("%s: %s, want %s", what, text, c.wants)
		}
	}
}

// TestJudge: what decides about a skill, and in which order.
func TestJudge(t *testing.T) {
	yes, no := true, false
	enabledBy := func(name string) *bool {
		return map[string]*bool{"on": &yes, "off": &no}[name]
	}
	doc := func(name string, tier sdk.SkillTier, loaded, off bool) *Document {
		d := &Document{Loaded: loaded, Off: off}
		d.Name, d.Tier = name, tier
		return d
	}
	r := ranking{settings: Settings{Enabled: enabledBy}, winners: map[string]*Document{},
		trusted: map[string]string{"a": "h-a"}}
	for i, c := range []struct {
		doc    *Document
		sum    folderSum
		status sdk.SkillStatus
	}{
		{doc("a", sdk.TierWorkspace, true, false), folderSum{}, sdk.SkillUntrusted},
		{doc("a", sdk.TierWorkspace, true, false), folderSum{hash: "other"}, sdk.SkillUntrusted},
		{doc("a", sdk.TierWorkspace, true, false), folderSum{problem: tooManyAlike}, sdk.SkillUntrusted},
		{doc("a", sdk.TierWorkspace, false, false), folderSum{hash: "h-a"}, sdk.SkillBroken},
		{doc("a", sdk.TierWorkspace, true, false), folderSum{hash: "h-a"}, sdk.SkillEnabled},
		{doc("a", sdk.TierUser, true, false), folderSum{}, sdk.SkillShadowed},
		{doc("a", sdk.TierUser, false, false), folderSum{}, sdk.SkillBroken},
		{doc("off", sdk.TierUser, true, false), folderSum{}, sdk.SkillDisabled},
		{doc("off", sdk.TierBundled, true, false), folderSum{}, sdk.SkillShadowed},
		{doc("on", sdk.TierUser, true, true), folderSum{}, sdk.SkillEnabled},
		{doc("itself", sdk.TierUser, true, true), folderSum{}, sdk.SkillDisabled},
		{doc("last", sdk.TierBundled, true, false), folderSum{}, sdk.SkillEnabled},
	} {
		c.doc.sum = c.sum
		if d := r.rank(c.doc); d.Status != c.status || d == c.doc || (d.Reason == "") != (c.status == sdk.SkillEnabled) {
			t.Errorf("%d: %s of the %s tier is %s: %q, want %s", i, c.doc.Name, c.doc.Tier, d.Status, d.Reason, c.status)
		}
	}
}
