package main

import (
	"context"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsResetCmd struct {
	runArg
}

// Help adds to the verb's help.
func (runsResetCmd) Help() string {
	return `The run's container goes, with its /tmp and its home: what was installed or cached there. The next command makes a new one. What the run knows stays, and no file of the project is touched.

A run at work cannot be reset: wait for its end, or end it with 'bothy runs abort'.

Example:

    bothy runs reset fix-42
`
}

// Run returns when the sandbox is gone.
func (cmd runsResetCmd) Run(ctx context.Context, c *console) error {
	if cmd.Alias == nil && !cmd.Last { // nothing is guessed
		return usageError{"name the run to reset, or say --last: `bothy runs list` shows what there is"}
	}
	return queryRun(ctx, c, cmd, (*client.Client).Reset, told(c, func(r rpc.Changed) string {
		return "reset run " + r.Run + ": its next command gets a new sandbox with an empty home"
	}))
}
