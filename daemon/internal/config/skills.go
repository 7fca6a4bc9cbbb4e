package config

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Skills says where skills and agents' files are looked for beside Bothy's own folders, how much of a prompt their list
// may take, and which of them were switched.
type Skills struct {
	Agents  bool    `name:"agents" default:"true" doc:"look into .agents/skills and .agents/agents too, of the home and of projects"`
	Claude  bool    `name:"claude" default:"true" doc:"look into .claude/skills and .claude/agents too, of the home and of projects"`
	Bundled bool    `name:"bundled" default:"true" doc:"use the skills that came with Bothy"`
	Budget  float64 `name:"budget" default:"2" kind:"percent" doc:"percent of the model's context that the list of skills may take in a prompt"`

	Blocks map[string]SkillBlock // by name (NFC), of those that say whether it is enabled
}

// SkillBlock says whether a skill may be used, and goes before what the skill says of itself.
type SkillBlock struct {
	Enabled *bool  `hcl:"enabled"`
	Place   string // file:line
}

// Folders are those of skills that count, below a home directory and below a project.
func (s Skills) Folders() []string { return s.below("skills") }

// AgentFolders are those of agents' files that count, by the same switches.
func (s Skills) AgentFolders() []string { return s.below("agents") }

func (s Skills) below(name string) (folders []string) {
	if s.Agents {
		folders = append(folders, ".agents/"+name)
	}
	if s.Claude {
		folders = append(folders, ".claude/"+name)
	}
	return folders
}

// Switched is what a skill block says about a name; nil when none does.
func (s Skills) Switched(name string) *bool { return s.Blocks[name].Enabled }

// SkillNameMistake says why a name cannot be that of a skill block; empty for one that can. The names of skills
// have letters and digits of any script; what a SKILL.md calls itself beside that is listed in this form.
func SkillNameMistake(name string) string {
	wrong := strings.ContainsFunc(name, func(r rune) bool {
		of := unicode.In(r, unicode.L, unicode.M, unicode.Nd) || strings.ContainsRune("-_.", r)
		return !of || unicode.ToLower(r) != r
	})
	if n := utf8.RuneCountInString(name); n == 0 || n > 64 || wrong {
		return "The name of a skill is written as `bothy skills list -a` shows it: small letters, digits and hyphens, at most 64 of them."
	}
	return ""
}

func (l *loader) skill(b *block) {
	says := SkillBlock{Place: placeOf(b.at)}
	if l.decode(b.body, &says) && says.Enabled != nil {
		l.cfg.Skills.Blocks[norm.NFC.String(b.label)] = says
	}
}

// SetSkill writes enabled into the skill block of a name, in the file at path, and reports whether that changed
// the file. A block that is not there is put at the end; a file that is not there is made, and one that cannot
// be parsed is refused. Everything else stays byte for byte. Who calls it keeps two calls at once apart.
func SetSkill(path, name string, enabled bool) (bool, error) {
	return putBlock(path, "skill", name, attributesOf(SkillBlock{Enabled: &enabled}), false)
}

// UnsetSkill takes the skill block of a name out of the file at path, and reports whether
// it did: only one that is as SetSkill writes it, with nothing of a person's in it.
func UnsetSkill(path, name string) (bool, error) {
	return edit(path, func(text []byte) ([]byte, error) { return unsetSkill(text, path, name) })
}

// unsetSkill is the text without one skill block, where that only says enabled.
func unsetSkill(text []byte, path, name string) ([]byte, error) {
	block, err := findBlock(text, path, "skill", name)
	if err != nil || block == nil {
		return text, err
	}
	for _, enabled := range []bool{true, false} {
		written := strings.ReplaceAll(blockText("skill", block.Labels[0], attributesOf(SkillBlock{Enabled: &enabled})), "\n", lineEnd(text))
		if bytes.HasPrefix(text[block.Range().Start.Byte:], []byte(written)) {
			return removeBlock(text, path, "skill", name)
		}
	}
	return text, nil
}
