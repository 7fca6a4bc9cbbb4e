package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type skillsInfoCmd struct {
	skillArg
	Body bool `help:"Print its instructions and nothing else."`
}

// Help adds to the verb's help.
func (skillsInfoCmd) Help() string {
	return `Shows the skill that counts of a name, what its SKILL.md says, what is wrong with it, the files beside it, and the skills of the same name that it hides. Nothing in its folder is executed.

Examples:

    bothy skills info summarize
    bothy skills info summarize --body
    bothy skills info summarize --json | jq -r .skill.path
`
}

// Run prints what is known of a skill.
func (cmd skillsInfoCmd) Run(ctx context.Context, c *console) error {
	return skillError(querySkills(ctx, c, cmd.Project, func(cl *client.Client, project string) (rpc.SkillInfo, error) {
		return cl.Skill(ctx, rpc.SkillQuery{Project: project, Name: cmd.Name})
	}, func(info rpc.SkillInfo) error {
		if cmd.Body {
			return c.text(info.Body)
		}
		return c.printSkill(info)
	}))
}

func (c *console) printSkill(info rpc.SkillInfo) error {
	if err := c.facts(14, skillLines(info.Skill)); err != nil {
		return err
	}
	wrong := each(info.Skill.Diagnostics, func(d sdk.FileDiagnostic) string { return diagnosticLine(info.Skill.Path, d) })
	if err := c.printList("what is wrong with it:", wrong); err != nil {
		return err
	}
	files := slices.Clone(info.Files)
	if info.More > 0 {
		files = append(files, fmt.Sprintf("and %d more", info.More))
	}
	if err := c.printList("files:", files); err != nil {
		return err
	}
	return c.printList("others of this name:", each(info.Others, func(s sdk.Skill) string {
		return fmt.Sprintf("%s (%s): %s", s.Path, s.Tier, skillStatus(s))
	}))
}

// skillLines are what is told of a skill, a line each.
func skillLines(s sdk.Skill) [][2]string {
	status := skillStatus(s)
	if s.Reason != "" {
		status += ": " + show.OneLine(s.Reason)
	}
	lines := [][2]string{
		{"name", s.Name},
		{"description", show.OneLine(s.Description)},
		{"status", status},
		{"tier", string(s.Tier)},
		{"path", s.Path},
		{"version", s.Version},
		{"tags", strings.Join(s.Tags, ", ")},
		{"needs tools", strings.Join(s.ToolsRequired, ", ")},
		{"asks for", strings.Join(s.AllowedTools, ", ")},
		{"executed by", s.Plugin},
		{"arguments", s.ArgumentHint},
		{"license", s.License},
		{"compatibility", show.OneLine(s.Compatibility)},
		{"changed", show.When(s.Modified)},
		{"hash", s.Hash},
	}
	for _, more := range []struct {
		prefix string
		fields map[string]any
	}{{"metadata.", s.Metadata}, {"", s.Extensions}} {
		for _, name := range slices.Sorted(maps.Keys(more.fields)) {
			lines = append(lines, [2]string{more.prefix + name, fieldText(more.fields[name])})
		}
	}
	return lines
}

// fieldText is the value of a field that Bothy does not know.
func fieldText(v any) string {
	if text, ok := v.(string); ok {
		return show.OneLine(text)
	}
	text, err := json.Marshal(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return string(text)
}

// diagnosticLine is path:line:column, what is wrong, and what to do.
func diagnosticLine(path string, d sdk.FileDiagnostic) string {
	at := path
	if d.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", path, d.Line, max(d.Column, 1))
	}
	text := fmt.Sprintf("%s: %s: %s", at, d.Severity, d.Message)
	if d.Help != "" {
		text += " (" + d.Help + ")"
	}
	return text
}

// printList prints items below a heading; nothing without items.
func (c *console) printList(heading string, items []string) error {
	if len(items) == 0 {
		return nil
	}
	return c.lines(append([]string{"", heading}, each(items, func(x string) string { return "  " + x })...)...)
}
