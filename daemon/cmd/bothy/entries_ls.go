package main

import (
	"context"
	"strconv"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type entriesLsCmd struct {
	Pattern string `arg:"" optional:"" help:"Which paths, as 'known://**'; all when absent, but for files that the run has no view of."`
	ofRun
	Body  string `help:"A pattern: only entries whose body has it."`
	Limit int    `short:"n" default:"1000" help:"At most so many."`
}

// Run prints one line an entry.
func (cmd entriesLsCmd) Run(ctx context.Context, c *console) error {
	if cmd.Limit < 1 {
		return usageError{"--limit must be at least 1"}
	}
	return queryRun(ctx, c, cmd, func(cl *client.Client, ctx context.Context, run rpc.RunRef) ([]sdk.Entry, error) {
		all := []sdk.Entry{}
		p := rpc.EntriesParams{Run: run.Run, Project: run.Project, Pattern: cmd.Pattern, Body: cmd.Body, Brief: true}
		for {
			p.Limit = min(cmd.Limit-len(all), 1000)
			page, err := cl.Entries(ctx, p)
			if err != nil {
				return nil, err
			}
			for _, e := range page.Entries {
				if cmd.Pattern != "" || e.Scheme() != "file" || e.Version > 0 { // `bothy project files` lists those
					all = append(all, e)
				}
			}
			if p.Offset = page.Next; page.Next == 0 || len(all) >= cmd.Limit {
				return all, nil
			}
		}
	}, func(all []sdk.Entry) error {
		return tableOf(c, all, "no entry fits", []string{"PATH", "STATUS", "VISIBILITY", "TURN", "WRITER", "UPDATED"}, func(e sdk.Entry) []string {
			return []string{e.Path, strconv.Itoa(e.Status()), string(e.Visibility), strconv.Itoa(e.Turn), string(e.Writer), show.When(e.Updated)}
		})
	})
}
