package main

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsForkCmd struct {
	runArg
	As   string `placeholder:"ALIAS" help:"The name of the new run; made up when absent."`
	Turn int    `placeholder:"N" help:"As the run was after turn N; after its last one when absent."`
}

// Help adds to the verb's help.
func (runsForkCmd) Help() string {
	return `The new run knows what the other one knew after the turn, and from there on each goes its own way. Nothing is copied but references. Its sandbox is its own and empty; the project's files are the same for both, as they are now.

A turn of the past can be had as long as nothing that stood there was overwritten since; where it was, you are told what.

Examples:

    bothy runs fork
    bothy runs fork fix-42 --turn 3 --as fix-42-b
    bothy run -r fix-42-b "try it the other way"
`
}

// Run prints the new run's name.
func (cmd runsForkCmd) Run(ctx context.Context, c *console) error {
	if cmd.Turn < 0 {
		return usageError{"--turn begins with 1: `bothy runs show` lists the turns"}
	}
	return queryRun(ctx, c, cmd, func(cl *client.Client, ctx context.Context, run rpc.RunRef) (rpc.Forked, error) {
		return cl.Fork(ctx, rpc.Fork{Run: run.Run, Project: run.Project, As: cmd.As, Turn: cmd.Turn})
	}, told(c, func(f rpc.Forked) string {
		return fmt.Sprintf("run %[1]s begins with run %[2]s as it was after turn %[3]d; go on with it: bothy run -r %[1]s \"...\"", f.Run, f.Parent.Run, f.Turn)
	}))
}
