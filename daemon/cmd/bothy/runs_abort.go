package main

import (
	"context"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsAbortCmd struct {
	runArg
}

// Help adds to the verb's help.
func (runsAbortCmd) Help() string {
	return `The model's answer is cut, a tool that runs is ended, and what was done so far stays on record. Prompts of the run that wait are worked on next. 'bothy runs resume' goes on where the work was ended.

Examples:

    bothy runs abort
    bothy runs abort fix-42
`
}

// Run returns when the end is recorded.
func (cmd runsAbortCmd) Run(ctx context.Context, c *console) error {
	return queryRun(ctx, c, cmd, (*client.Client).Abort, told(c, func(a rpc.Aborted) string { return "aborted run " + a.Run + goesOn(a) }))
}

func goesOn(a rpc.Aborted) string {
	switch a.Queued {
	case 0:
		return "; `bothy runs resume " + a.Run + "` goes on with it"
	case 1:
		return "; 1 prompt of it waited and comes now"
	default:
		return "; " + show.Plural(a.Queued, "prompt") + " of it waited and come now"
	}
}
