package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// part is what of a run's changes a command is about; its zero value is all of them.
type part struct {
	prompt, turn int
	path         string
	pick         bool // the file is to be chosen
}

// partOf reads a part as people write it: a prompt's number, "turn N", "file", or a path.
func partOf(text string) (part, error) {
	text = strings.TrimSpace(text)
	number, isTurn := strings.CutPrefix(text, "turn ")
	n, err := strconv.Atoi(strings.TrimSpace(number))
	switch {
	case text == "":
		return part{}, nil
	case text == "file":
		return part{pick: true}, nil
	case err == nil && n < 1, err != nil && isTurn:
		return part{}, fmt.Errorf("%s is none: say a prompt by its number, turn N, file, or a path", text)
	case err == nil && isTurn:
		return part{turn: n}, nil
	case err == nil:
		return part{prompt: n}, nil
	}
	return part{path: strings.TrimPrefix(filepath.ToSlash(filepath.Clean(text)), "@")}, nil
}

// of are the changes of that part of a run.
func (p part) of(run, project string) rpc.ChangesOf {
	of := rpc.ChangesOf{Run: run, Project: project, Prompt: p.prompt, Turn: p.turn}
	if p.path != "" {
		of.Paths = []string{p.path}
	}
	return of
}

// String is the part as people say it.
func (p part) String() string {
	switch {
	case p.prompt > 0:
		return fmt.Sprintf("prompt %d", p.prompt)
	case p.turn > 0:
		return fmt.Sprintf("turn %d", p.turn)
	case p.path != "":
		return show.Line(p.path)
	}
	return "this run"
}

// literal is the glob that one path fits, whatever is in its name.
func literal(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`, "]", `\]`, "{", `\{`, "}", `\}`).Replace(path)
}

// toChanges is done with changes of a part of the run.
type toChanges func(c *conversation, p part, found rpc.Changes) tea.Cmd

// changed reads the changes of the part that a text says, and does something with them.
func (c *conversation) changed(text string, do toChanges) tea.Cmd {
	p, err := partOf(text)
	if err != nil {
		return c.fail(err)
	}
	return c.changedPart(p, do)
}

// changedPart reads a part of the run's changes and does something with them. Of a path at
// which nothing was changed those are offered that are like it.
func (c *conversation) changedPart(p part, do toChanges) tea.Cmd {
	if c.runID == 0 {
		return c.noRun()
	}
	run, project := c.run, c.o.project
	return c.ask(func(ctx context.Context) tea.Msg {
		found, err := c.cl.Changes(ctx, p.of(run, project))
		picks := p.pick || p.path != "" && len(found.Differences) == 0
		if err == nil && picks {
			found, err = c.cl.Changes(ctx, part{}.of(run, project))
		}
		if err != nil {
			return failure{err}
		}
		return shows{func(c *conversation) tea.Cmd {
			switch {
			case len(found.Differences) == 0:
				return c.say(c.p.dim.Render("  " + p.String() + " changed no file that is still so" + untold(found)))
			case picks:
				return c.pickFile(p.path, found, func(path string) tea.Cmd { return c.changedPart(part{path: literal(path)}, do) })
			}
			return do(c, p, found)
		}}
	})
}

// untold says that there may be more.
func untold(x rpc.Changes) string {
	if x.Untold == 0 {
		return ""
	}
	return "; " + show.Plural(x.Untold, "call") + " may have changed files that nobody told of"
}

// pickFile chooses a file among those that the run changed.
func (c *conversation) pickFile(typed string, found rpc.Changes, then func(path string) tea.Cmd) tea.Cmd {
	var rows []choice
	for _, d := range found.Differences {
		rows = append(rows, choice{id: d.Path, line: differenceLine(d), view: c.p.draw(show.Body(d.Diff, show.View{}))})
	}
	if typed != "" && len(filtered(rows, typed)) == 0 {
		var names []string
		for _, d := range found.Differences {
			names = append(names, show.Line(d.Path))
		}
		return c.fail(fmt.Errorf("nothing was changed at %s; changed were %s", typed, strings.Join(names, ", ")))
	}
	p := &picker{title: "files that this run changed", typed: typed, empty: "no file fits", choose: func(ch choice) tea.Cmd { return then(ch.id) }}
	p.set(rows, false)
	return c.over(p)
}

// differenceLine is what became of a file, in a line.
func differenceLine(d sdk.Difference) show.Spans {
	line := show.Spans{{Style: show.Dim, Text: fmt.Sprintf("%-7s ", show.Line(d.Status))}, {Style: show.Bold, Text: show.Line(d.Path)}}
	if d.From != "" {
		line = append(line, show.Span{Style: show.Dim, Text: " from " + show.Line(d.From)})
	}
	if d.Added+d.Removed > 0 {
		line = append(line, show.Span{Style: show.Good, Text: fmt.Sprintf(" +%d", d.Added)}, show.Span{Style: show.Bad, Text: fmt.Sprintf(" -%d", d.Removed)})
	}
	if d.Binary {
		line = append(line, show.Span{Style: show.Dim, Text: " binary"})
	}
	if d.Conflict != "" {
		line = append(line, show.Span{Style: show.Bad, Text: ": " + show.Line(d.Conflict)})
	}
	return line
}

// diff shows what the run, or a part of it, changed in files.
func (c *conversation) diff(text string) tea.Cmd {
	return c.changed(text, func(c *conversation, p part, found rpc.Changes) tea.Cmd {
		return c.sayOrPage("diff of "+p.String(), c.diffText(found))
	})
}

// diffText draws changes, whole.
func (c *conversation) diffText(found rpc.Changes) string {
	var lines []show.Spans
	for _, d := range found.Differences {
		lines = append(lines, differenceLine(d))
		lines = append(lines, show.Body(d.Diff, show.View{})...)
	}
	text := c.p.draw(lines)
	if more := untold(found); more != "" {
		text += "\n" + c.p.dim.Render(strings.TrimPrefix(more, "; "))
	}
	return text
}
