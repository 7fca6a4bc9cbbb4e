package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/bothyd/bothy/sdk"
)

// typedPrompt is a prompt that a person typed as /name, and the skill that it
// means.
type typedPrompt struct {
	skills *skills
	turn   sdk.TurnContext
	skill  resolved
	prompt string
	input  string
}

// typed takes "/name input" apart. A path is none: its first word has another
// slash.
func typed(prompt string) (name, input string, ok bool) {
	rest, ok := strings.CutPrefix(prompt, "/")
	if !ok {
		return "", "", false
	}
	end := strings.IndexFunc(rest, unicode.IsSpace)
	if end < 0 {
		end = len(rest)
	}
	name = rest[:end]
	if name == "" || strings.Contains(name, "/") {
		return "", "", false
	}
	return name, strings.TrimSpace(rest[end:]), true
}

// wellFormed reports whether a word looks like the name of a skill.
func wellFormed(word string) bool {
	return !strings.ContainsFunc(word, func(r rune) bool { return !(r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-') })
}

// Typed finds the skill that a prompt means; nil is a text that means itself. A
// word that looks like a skill's name and is none that can be used is an error,
// so that nobody takes a model's guess for the skill. The code skills are
// called by the model, which must be offered use_skill then.
func (b *Builtin) Typed(ctx context.Context, p sdk.TurnContext, prompt string) (sdk.TypedPrompt, error) {
	name, input, ok := typed(prompt)
	if !ok {
		return nil, nil
	}
	s := b.skills
	c, err := s.cfg.Catalogue(ctx, p.Project)
	if err != nil {
		return nil, err
	}
	if !wellFormed(name) && len(c.Named(name)) == 0 {
		return nil, nil
	}
	x, err := s.resolve(ctx, p, c, name)
	if err == nil {
		err = others(p, name)
	}
	if err == nil {
		err = equipped(x.SkillDocument, p)
	}
	if err == nil && x.Plugin != "" && !p.Admits(useSkill(nil)) && !hasSkillTool(p) {
		err = sdk.Errorf(sdk.Permission, "the skill %s is run by %s, which this agent may not use; name another agent, or admit the tool in its block", name, UseSkill)
	}
	if err != nil {
		return nil, fmt.Errorf("%w. To send this text as it is, begin it with a space", err)
	}
	return &typedPrompt{skills: s, turn: p, skill: x, prompt: prompt, input: input}, nil
}

// Text implements sdk.TypedPrompt. It loads the skill into the run.
func (t *typedPrompt) Text(ctx context.Context, run sdk.Run, runDir string) (sdk.Meaning, error) {
	p := t.turn
	p.Run, p.RunDir = run, runDir
	have, err := t.skills.load(ctx, p, t.skill)
	if err != nil {
		return sdk.Meaning{}, err
	}
	said := fmt.Sprintf("The person used the skill %s by typing: %s\n\n", have.Name, t.prompt)
	if have.Plugin == "" {
		text, err := have.content(t.input)
		if err != nil {
			return sdk.Meaning{}, err
		}
		return sdk.Meaning{Skill: have.Name, Text: said + "Do what its text says.\n\n" + text}, nil
	}
	tool, by := UseSkill, any(useArguments{have.Name, t.input})
	if hasSkillTool(t.turn) {
		tool, by = sdk.ToolSkill, map[string]string{"path": have.Name, "input": t.input}
	}
	arguments, err := json.Marshal(by)
	if err != nil {
		return sdk.Meaning{}, fmt.Errorf("write down the input of the skill %s: %w", have.Name, err)
	}
	return sdk.Meaning{Skill: have.Name, Text: said + fmt.Sprintf("Call %s with the arguments %s, then tell the person what came of it.", tool, arguments)}, nil
}
