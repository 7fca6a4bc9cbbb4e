package main

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// trust shows what came with the project and nobody agreed to, and asks about it, one
// after the other.
func (c *conversation) trust(string) tea.Cmd {
	return c.ask(func(ctx context.Context) tea.Msg {
		skills, err := c.cl.Trust(ctx, rpc.TrustQuery{Project: c.o.project})
		if err != nil {
			return failure{err}
		}
		told, err := c.cl.Trust(ctx, rpc.TrustQuery{Project: c.o.project, Instructions: true})
		if err != nil {
			return failure{err}
		}
		return shows{func(c *conversation) tea.Cmd {
			var open []sure
			if in := told.Instructions; in.File != "" && !in.Trusted {
				open = append(open, c.aboutInstructions(in))
			}
			for _, s := range skills.Skills {
				if !s.Trusted {
					open = append(open, c.aboutSkill(s))
				}
			}
			if len(open) == 0 {
				return c.say(c.p.dim.Render("  nothing of this project waits for your trust; `bothy trust --revoke` takes trust back"))
			}
			return c.askEach(open)
		}}
	})
}

// askEach asks one question after the other.
func (c *conversation) askEach(open []sure) tea.Cmd {
	if len(open) == 0 {
		return nil
	}
	s, rest := open[0], open[1:]
	if s.yes == nil { // there is nothing to agree to
		return tea.Sequence(c.say(strings.Join(s.lines, "\n")), c.askEach(rest))
	}
	yes, no := s.yes, s.no
	s.yes = func() tea.Cmd { return tea.Batch(yes(), c.askEach(rest)) }
	s.no = func() tea.Cmd { return tea.Batch(no(), c.askEach(rest)) }
	return c.askSure(s)
}

// aboutInstructions asks whether agents follow the instructions of the folder.
func (c *conversation) aboutInstructions(in rpc.TrustInstructions) sure {
	file := show.Line(in.File)
	if in.Problem != "" {
		return sure{lines: []string{c.p.bad.Render("! ") + file + ": " + show.Line(in.Problem)}}
	}
	return sure{
		lines: folded(c.p.ask.Render("? ")+c.p.bold.Render(fmt.Sprintf("Have agents follow %s of this folder, and of those below, whatever they come to say?", file))+
			c.p.dim.Render("  "+show.Plural(int(in.Size), "byte")), c.columns()),
		yes:  c.trusting(rpc.TrustQuery{Project: c.o.project, Instructions: true, Follow: true}, "agents follow "+file),
		no:   func() tea.Cmd { return c.say(c.p.dim.Render("  " + file + " is not read")) },
		more: func() tea.Cmd { return c.page(in.File, func(int) string { return harmless(in.Text) }) },
	}
}

// aboutSkill asks whether a skill is trusted as it is.
func (c *conversation) aboutSkill(s rpc.TrustSkill) sure {
	name := show.Line(s.Skill.Name)
	lines := []string{"  " + c.p.bold.Render(name) + c.p.dim.Render("  "+show.Line(show.OneLine(s.Skill.Description)))}
	for _, l := range [][2]string{
		{"asks for these tools without a question", strings.Join(s.Skill.AllowedTools, ", ")},
		{"is executed by the plugin", s.Skill.Plugin},
		{"hides the skill of this name in the tier", strings.Join(s.Hides, ", ")},
		{"look out", strings.Join(s.Warnings, "; ")},
		{"cannot be trusted", s.Problem},
	} {
		if l[1] != "" {
			lines = append(lines, "  "+l[0]+": "+show.Line(l[1]))
		}
	}
	if s.Problem != "" {
		return sure{lines: lines}
	}
	var files []string
	for _, f := range s.Files {
		text := fmt.Sprintf("%8d  %s", f.Size, show.Line(f.Path))
		if f.Script {
			text += "  (script)"
		}
		files = append(files, strings.TrimRight(text+"  "+show.Line(f.Change), " "))
	}
	lines = append(lines, c.p.ask.Render("? ")+c.p.bold.Render(fmt.Sprintf("Trust skill %s as it is?", name))+c.p.dim.Render("  "+show.Plural(len(s.Files), "file")+", hash "+show.Line(s.Hash[:min(len(s.Hash), show.ShortHash)])))
	var drawn []string
	for _, line := range lines {
		drawn = append(drawn, folded(line, c.columns())...)
	}
	return sure{
		lines: drawn,
		yes: c.trusting(rpc.TrustQuery{Project: c.o.project, Names: []string{s.Skill.Name}, Accept: map[string]string{s.Skill.Name: s.Hash}},
			"skill "+name+" is trusted as it is"),
		no:   func() tea.Cmd { return c.say(c.p.dim.Render("  " + name + " stays inert")) },
		more: func() tea.Cmd { return c.skillText(s, files) },
	}
}

// skillText shows the files of a skill and their text, as they would be trusted.
func (c *conversation) skillText(s rpc.TrustSkill, files []string) tea.Cmd {
	return c.ask(func(ctx context.Context) tea.Msg {
		alone, err := c.cl.Trust(ctx, rpc.TrustQuery{Project: c.o.project, Names: []string{s.Skill.Name}})
		if err != nil {
			return failure{err}
		}
		for _, x := range alone.Skills {
			if x.Skill.Folder == s.Skill.Folder && x.Hash == s.Hash {
				text := strings.Join(files, "\n") + "\n\n" + harmless(x.Diff)
				return shows{func(c *conversation) tea.Cmd { return c.page(s.Skill.Name, func(int) string { return text }) }}
			}
		}
		return failure{fmt.Errorf("skill %s has changed meanwhile: /trust shows it as it is now", s.Skill.Name)}
	})
}

// trusting says yes.
func (c *conversation) trusting(q rpc.TrustQuery, what string) func() tea.Cmd {
	return func() tea.Cmd {
		return c.ask(func(ctx context.Context) tea.Msg {
			if _, err := c.cl.Trust(ctx, q); err != nil {
				return failure{err}
			}
			return said{c.p.dim.Render("  " + what)}
		})
	}
}
