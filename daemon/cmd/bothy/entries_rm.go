package main

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type entriesRmCmd struct {
	Path string `arg:"" help:"The entry's path, or a pattern as 'known://**'."`
	ofRun
	Filter string `placeholder:"PATTERN" help:"Only entries whose text has it."`
}

// Run says what was removed.
func (cmd entriesRmCmd) Run(ctx context.Context, c *console) error {
	return queryRun(ctx, c, cmd, func(cl *client.Client, ctx context.Context, run rpc.RunRef) (sdk.EntryDone, error) {
		return cl.RemoveEntry(ctx, rpc.Remove{Run: run.Run, Project: run.Project, Path: cmd.Path, Filter: cmd.Filter})
	}, done(c))
}
