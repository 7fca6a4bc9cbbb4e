package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsListCmd struct {
	All     bool   `short:"a" help:"Also the implicit runs behind 'tools call'."`
	Global  bool   `short:"g" help:"The runs of all projects."`
	Limit   int    `short:"n" default:"100" help:"At most so many."`
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Run prints one line a run.
func (cmd runsListCmd) Run(ctx context.Context, c *console) error {
	p := rpc.RunsParams{Hidden: cmd.All, Limit: cmd.Limit}
	if cmd.Limit < 1 {
		return usageError{"--limit must be at least 1"}
	}
	if !cmd.Global {
		project, err := c.project(cmd.Project)
		if err != nil {
			return err
		}
		p.Project = project
	}
	return query(ctx, c, func(cl *client.Client) ([]rpc.RunSummary, error) { return cl.Runs(ctx, p) }, func(list []rpc.RunSummary) error {
		list = withChildren(list)
		none := "there are no runs yet: `bothy run \"...\"` makes one"
		if cmd.Global { // the prompt is short, for the project is to be seen, too
			return tableOf(c, list, none, []string{"RUN", "STATUS", "UPDATED", "LAST PROMPT", "PROJECT"}, func(r rpc.RunSummary) []string {
				return []string{r.Alias, runStatus(r), show.When(r.Updated), show.Shorten(r.Summary, 20), r.ProjectRoot}
			})
		}
		return tableOf(c, list, none, []string{"RUN", "STATUS", "TURNS", "UPDATED", "MODEL", "LAST PROMPT"}, func(r rpc.RunSummary) []string {
			return []string{r.Alias, runStatus(r), strconv.Itoa(r.Turns), show.When(r.Updated), r.Model, show.Shorten(r.Summary, 50)}
		})
	})
}

// withChildren are runs with a line for each child below its parent.
func withChildren(list []rpc.RunSummary) []rpc.RunSummary {
	var all []rpc.RunSummary
	for _, r := range list {
		all = append(all, r)
		for _, child := range r.Children {
			line := rpc.RunSummary{Run: child.Run, ProjectRoot: r.ProjectRoot, Summary: child.Summary}
			line.Alias = strings.Repeat("  ", child.Depth-1) + "└ " + child.Alias
			all = append(all, line)
		}
	}
	return all
}
