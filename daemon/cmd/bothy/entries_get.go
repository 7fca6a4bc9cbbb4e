package main

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type entriesGetCmd struct {
	Path string `arg:"" help:"The entry's path, or a pattern as 'known://**'."`
	ofRun
	Line    int    `help:"Only from this line on, as it is and unseen by the model; --line=-1 is the last."`
	Limit   int    `short:"n" help:"Only so many lines."`
	Preview bool   `help:"List what fits and change nothing."`
	Filter  string `placeholder:"PATTERN" help:"Only entries whose text has it."`
}

// Run prints the bodies.
func (cmd entriesGetCmd) Run(ctx context.Context, c *console) error {
	return queryRun(ctx, c, cmd.of(cmd.Path), func(cl *client.Client, ctx context.Context, run rpc.RunRef) (sdk.EntryDone, error) {
		return cl.GetEntry(ctx, rpc.Get{Run: run.Run, Project: run.Project, Path: cmd.Path, Line: cmd.Line, Limit: cmd.Limit, Preview: cmd.Preview, Filter: cmd.Filter})
	}, done(c))
}
