package main

import (
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// trustable names a skill or an agent that came with a project.
type trustable struct {
	agent bool
	name  string
}

// asked is one of them as it would be trusted.
type asked struct {
	trustable
	place, hash, diff, problem string
	isTrusted                  bool
	about                      string // its description
	before                     string // the hash that was trusted last
	lines                      [][2]string
	files                      []rpc.TrustFile
	warnings                   []string
}

func kindOf(agent bool) string {
	if agent {
		return "agent"
	}
	return "skill"
}

// allAsked are the skills and then the agents of an answer.
func allAsked(found rpc.Trust) (all []asked) {
	for _, s := range found.Skills {
		all = append(all, asked{
			trustable: trustable{name: s.Skill.Name}, place: s.Skill.Folder, hash: s.Hash, diff: s.Diff, problem: s.Problem, isTrusted: s.Trusted,
			about: s.Skill.Description, before: s.Before, files: s.Files, warnings: s.Warnings,
			lines: [][2]string{
				{"asks for these tools without a question", strings.Join(s.Skill.AllowedTools, ", ")},
				{"needs these tools", strings.Join(s.Skill.ToolsRequired, ", ")},
				{"is executed by the plugin", s.Skill.Plugin},
				{"hides the skill of this name in the tier", strings.Join(s.Hides, ", ")},
			},
		})
	}
	for _, x := range found.Agents {
		a := x.Agent
		tools := "all that the agent default has"
		if len(a.Tools) > 0 {
			tools = strings.Join(a.Tools, ", ")
		}
		finish := ""
		if a.Finish != nil {
			finish = string(a.Finish.Schema)
		}
		all = append(all, asked{
			trustable: trustable{agent: true, name: a.Name}, place: x.Path, hash: x.Hash, diff: x.Diff, problem: x.Problem, isTrusted: x.Trusted,
			about: a.Description, before: x.Before, warnings: x.Warnings,
			lines: [][2]string{
				{"asks for the tools", tools}, {"has not the tools", strings.Join(a.Without, ", ")}, {"asks for the mode", string(a.Mode)},
				{"may delegate to", strings.Join(a.Agents, ", ")}, {"names the models", strings.Join(x.Models, ", ")}, {"must hand back", finish},
			},
		})
	}
	return all
}

// text shows it as it would be trusted. All of it is escaped: it is what a stranger wrote.
func (b asked) text(c *console) string {
	var out strings.Builder
	fmt.Fprintf(&out, "\n%s  %s\n  %s\n", c.paint(bold, show.Line(b.name)), show.Line(b.place), show.Line(show.OneLine(b.about)))
	for _, l := range append(b.lines, [2]string{"hash", b.hash}) {
		if l[1] != "" && (b.problem == "" || !b.agent) {
			fmt.Fprintf(&out, "  %s: %s\n", l[0], show.Line(l[1]))
		}
	}
	for _, f := range b.files {
		fmt.Fprintf(&out, "  %s\n", trustFileLine(f))
	}
	for _, w := range b.warnings {
		fmt.Fprintf(&out, "  %s %s\n", c.paint(red, "look out:"), show.Line(w))
	}
	if b.problem != "" {
		fmt.Fprintf(&out, "  %s %s\n", c.paint(red, "it cannot be trusted:"), show.Line(b.problem))
	}
	if b.before != "" && b.diff != "" {
		fmt.Fprintf(&out, "  since it was trusted:\n%s", indented(show.Text(b.diff), "    "))
	}
	return out.String()
}
