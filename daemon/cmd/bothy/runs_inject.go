package main

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type runsInjectCmd struct {
	namedRun
	Message []string `arg:"" help:"What to do. With - it is read from standard input."`
}

// Help adds to the verb's help.
func (runsInjectCmd) Help() string {
	return `The prompt waits for its turn in a run that is there, and the verb returns at once: 'bothy run -r' would follow it. It interrupts nothing and may do what the run's last prompt may: after one of --ask it only reads.

Examples:

    bothy runs inject fix-42 "when that is done, run the linter, too"
    git diff | bothy runs inject fix-42 "review this:" -
    bothy runs inject --json fix-42 "go on" | jq .sequence
`
}

// Run prints how many prompts come first.
func (cmd runsInjectCmd) Run(ctx context.Context, c *console) error {
	prompt, along, err := c.prompt(cmd.Message)
	if err != nil {
		return err
	}
	return queryRun(ctx, c, cmd, func(cl *client.Client, ctx context.Context, run rpc.RunRef) (rpc.Accepted, error) {
		return cl.Inject(ctx, rpc.Inject{Run: run.Run, Project: run.Project, Message: prompt, Quoted: along})
	}, told(c, func(a rpc.Accepted) string {
		if a.Ahead > 0 {
			return fmt.Sprintf("run %s has it as prompt %d, behind %d others", a.Run, a.Sequence, a.Ahead)
		}
		return fmt.Sprintf("run %s works on it as prompt %d", a.Run, a.Sequence)
	}))
}
