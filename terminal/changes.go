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

// diff shows what the run changed in files.
func (c *conversation) diff(string) tea.Cmd {
	return c.ofRun(func(ctx context.Context, ref rpc.RunRef) (string, error) {
		changes, err := c.cl.Changes(ctx, rpc.ChangesOf{Run: ref.Run, Project: ref.Project})
		if err != nil {
			return "", err
		}
		if len(changes.Differences) == 0 {
			return c.p.dim.Render("  this run has changed no file"), nil
		}
		var b strings.Builder
		for _, d := range changes.Differences {
			fmt.Fprintf(&b, "%s\n", c.p.bold.Render(show.Line(d.Path)))
			b.WriteString(c.p.draw(show.Body(d.Diff, show.View{})) + "\n")
		}
		return strings.TrimRight(b.String(), "\n"), nil
	})
}

// undone tells what was taken back, or made again, and what could not be.
func (c *conversation) undone(u rpc.Undone) string {
	var lines []string
	row := func(mark string, all []sdk.Difference) {
		for _, d := range all {
			lines = append(lines, mark+" "+show.Line(d.Path))
		}
	}
	row(c.p.good.Render("  ↶"), u.Taken)
	row(c.p.bad.Render("  left"), u.Left)
	if len(lines) == 0 {
		return c.p.dim.Render("  there is nothing to take back")
	}
	return strings.Join(lines, "\n")
}
