package main

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// undo takes back what the run, or a part of it, changed in files.
func (c *conversation) undo(text string) tea.Cmd {
	return c.changed(text, func(c *conversation, p part, found rpc.Changes) tea.Cmd {
		of := p.of(c.run, c.o.project)
		return c.takeChanges(found, "Take back what "+p.String()+" changed?", "taken back", func(ctx context.Context, partial bool) (rpc.Undone, error) {
			return c.cl.Undo(ctx, rpc.Undo{Run: of.Run, Project: of.Project, Prompt: of.Prompt, Turn: of.Turn, Paths: of.Paths, Partial: partial})
		})
	})
}

// redo makes again what the last undo took back.
func (c *conversation) redo(string) tea.Cmd {
	if c.runID == 0 {
		return c.noRun()
	}
	run, project := c.run, c.o.project
	return c.ask(func(ctx context.Context) tea.Msg {
		found, err := c.cl.Changes(ctx, rpc.ChangesOf{Run: run, Project: project, Redo: true})
		if err != nil {
			return failure{err}
		}
		return shows{func(c *conversation) tea.Cmd {
			if len(found.Differences) == 0 {
				return c.say(c.p.dim.Render("  nothing was taken back that could be made again"))
			}
			return c.takeChanges(found, "Make this again?", "made again", func(ctx context.Context, partial bool) (rpc.Undone, error) {
				return c.cl.Redo(ctx, rpc.Redo{Run: run, Project: project, Partial: partial})
			})
		}}
	})
}

// takeChanges takes changes back, or makes them again. It asks first where more than one
// prompt made them, or where something is in the way of a part of them.
func (c *conversation) takeChanges(found rpc.Changes, question, did string, do func(ctx context.Context, partial bool) (rpc.Undone, error)) tea.Cmd {
	stuck := 0
	for _, d := range found.Differences {
		if d.Conflict != "" {
			stuck++
		}
	}
	call := func() tea.Cmd {
		return c.ask(func(ctx context.Context) tea.Msg {
			done, err := do(ctx, stuck > 0)
			if err != nil {
				return failure{err}
			}
			return said{c.undone(did, done)}
		})
	}
	lines := differences(c, found)
	switch {
	case stuck == len(found.Differences):
		return c.say(strings.Join(append(lines, c.p.bad.Render("  nothing of it can be changed back now")), "\n"))
	case stuck == 0 && c.promptsOf(found) <= 1:
		return call()
	}
	if stuck > 0 {
		question += fmt.Sprintf(" %s stay as %s.", show.Plural(stuck, "file"), map[bool]string{true: "it is", false: "they are"}[stuck == 1])
	}
	return c.askSure(sure{
		lines: append(lines, c.p.ask.Render("? ")+c.p.bold.Render(question)),
		yes:   call,
		more:  func() tea.Cmd { return c.page("changes", func(int) string { return c.diffText(found) }) },
	})
}

// mostNamed is how many files a question names.
const mostNamed = 8

// differences are the files that a question is about, the first of them.
func differences(c *conversation, found rpc.Changes) (lines []string) {
	for i, d := range found.Differences {
		if i == mostNamed {
			lines = append(lines, c.p.dim.Render(fmt.Sprintf("  … %d more: d shows all", len(found.Differences)-i)))
			break
		}
		lines = append(lines, cut("  "+differenceLine(d).Draw(c.p.paint), c.columns()))
	}
	return lines
}

// promptsOf counts the prompts that made changes, as far as rows told of their turns.
func (c *conversation) promptsOf(found rpc.Changes) int {
	of := map[int]int64{}
	for _, l := range c.line.Loops {
		for _, t := range l.Turns {
			of[t.Number] = l.ID
		}
	}
	prompts := map[int64]bool{}
	for _, d := range found.Differences {
		for _, turn := range d.Turns {
			prompts[of[turn]] = true
		}
	}
	return len(prompts)
}

// undone tells what was taken back, or made again, and what could not be.
func (c *conversation) undone(did string, u rpc.Undone) string {
	var lines []string
	row := func(mark string, all []sdk.Difference) {
		for _, d := range all {
			lines = append(lines, mark+differenceLine(d).Draw(c.p.paint))
		}
	}
	row(c.p.good.Render("  "+did+": "), u.Taken)
	row(c.p.bad.Render("  left as it is: "), u.Left)
	for _, dir := range u.Kept {
		lines = append(lines, c.p.dim.Render("  the folder "+show.Line(dir)+" stays: other things are in it"))
	}
	if len(lines) == 0 {
		return c.p.dim.Render("  there is nothing to take back")
	}
	return strings.Join(lines, "\n")
}
