package config

import (
	"cmp"
	"fmt"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
)

// Skills says where skills are looked for beside Bothy's own folders, how much
// of a prompt their list may take, and which of them were switched.
type Skills struct {
	Agents  bool            // .agents/skills counts
	Claude  bool            // .claude/skills counts
	Bundled bool            // those that came with Bothy count
	Budget  float64         // percent of the model's context
	Enabled map[string]bool // by name, of the skill blocks that say it

	places map[string]string // of those blocks, file:line
}

// Switched is what a skill block says about a name; nil when none does. It goes
// before what the skill says of itself.
func (s Skills) Switched(name string) *bool {
	if is, ok := s.Enabled[name]; ok {
		return &is
	}
	return nil
}

// Place is where the block stands that Switched heeds, as file:line.
func (s Skills) Place(name string) string { return s.places[name] }

// longestSkillName is in characters. The standard has 64; real ones are longer.
const longestSkillName = 200

// SkillNameMistake says why a name cannot be that of a skill block; it is empty
// for one that can. Other than the names of plugins and agents, those of skills
// are not ours to choose: any script, capitals and spaces are found in them.
func SkillNameMistake(name string) string {
	switch {
	case name == "":
		return "The name of a skill cannot be empty."
	case !utf8.ValidString(name):
		return "The name of a skill is text in UTF-8, and this one is not."
	case utf8.RuneCountInString(name) > longestSkillName:
		return fmt.Sprintf("The name of a skill has at most %d characters.", longestSkillName)
	}
	for _, r := range name {
		if !unicode.IsPrint(r) {
			return fmt.Sprintf("The name of a skill has letters, digits, marks and spaces; %U cannot be seen.", r)
		}
	}
	return ""
}

// skillBlock says whether a skill may be used.
type skillBlock struct {
	Enabled *bool `hcl:"enabled"`
}

func (l *loader) skill(label string, body hcl.Body, at hcl.Range) {
	var b skillBlock
	diags := gohcl.DecodeBody(body, l.cfg.Context, &b)
	l.report(diags)
	if !diags.HasErrors() && b.Enabled != nil {
		l.cfg.Skills.Enabled[label] = *b.Enabled
		l.cfg.Skills.places[label] = fmt.Sprintf("%s:%d", at.Filename, at.Start.Line)
	}
}

// skillSwitch is one entry of Skills.Enabled, for Diff.
type skillSwitch struct {
	name    string
	enabled bool
}

func skillName(s skillSwitch) string { return s.name }

func sameSwitch(a, b skillSwitch) bool { return a == b }

func (s Skills) switches() []skillSwitch {
	var out []skillSwitch
	for name, enabled := range s.Enabled {
		out = append(out, skillSwitch{name, enabled})
	}
	slices.SortFunc(out, func(a, b skillSwitch) int { return cmp.Compare(a.name, b.name) })
	return out
}
