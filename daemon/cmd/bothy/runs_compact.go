package main

import (
	"context"

	"github.com/bothyd/bothy/sdk/client"
)

type runsCompactCmd struct{ followed }

// Help adds to the verb's help.
func (runsCompactCmd) Help() string {
	return `The run's model writes a summary of all that was said in the run, as work on a prompt that waits its turn, counts, and can be aborted. Then that is archived, and the model is shown the summary in its place: it stays readable, a fork from before has it, and the plan, what is known and files are as they were. Without a summary all is as it was.

Examples:

    bothy runs compact
    bothy runs compact fix-42 --quiet

` + exitCodes
}

// Run queues the summary and follows it to its end.
func (cmd runsCompactCmd) Run(ctx context.Context, c *console) error {
	return cmd.follow(ctx, c, nil, (*client.Client).Compact)
}
