package main

import (
	"context"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsRenameCmd struct {
	namedRun
	Name string `arg:"" help:"The new name: 1 to 64 of A-Z a-z 0-9 _ -"`
}

// Help adds to the verb's help.
func (runsRenameCmd) Help() string {
	return `The run keeps its id, its sandbox and all it knows; it may be at work.

Example:

    bothy runs rename default-3 fix-42
`
}

// Run prints the new name.
func (cmd runsRenameCmd) Run(ctx context.Context, c *console) error {
	return queryRun(ctx, c, cmd, func(cl *client.Client, ctx context.Context, run rpc.RunRef) (rpc.Changed, error) {
		return cl.Rename(ctx, rpc.Rename{Run: run.Run, Project: run.Project, Name: cmd.Name})
	}, told(c, func(r rpc.Changed) string { return "run " + cmd.Alias + " is called " + r.Run + " now" }))
}
