package main

import (
	"context"

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
	cl, ref, err := cmd.open(ctx, c)
	if err != nil {
		return err
	}
	defer c.close(cl)
	renamed, err := cl.Rename(ctx, rpc.Rename{Run: ref.Run, Project: ref.Project, Name: cmd.Name})
	if err != nil {
		return err
	}
	return c.told(renamed, "run "+cmd.Alias+" is called "+renamed.Run+" now")
}
