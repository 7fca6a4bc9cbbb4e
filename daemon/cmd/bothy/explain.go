package main

import (
	"context"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type explainCmd struct {
	Words []string `arg:"" name:"run-and-action" help:"The action: its path, the end of that (turn_2/bash/list), or a proposal's id. Before it, if need be, the run; the project's newest when absent."`
	lastFlag
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Help adds to the verb's help.
func (explainCmd) Help() string {
	return `Says what was decided about an action, by which rule, where that rule stands, which commands were seen in a command line, who answered, and what the rules in force now would say.

Examples:

    bothy explain turn_2/bash/go_test
    bothy explain fix-42 log://turn_2/bash/go_test
    bothy explain 1a2b3c4d --json | jq .decision
`
}

// Run prints the decision.
func (cmd explainCmd) Run(ctx context.Context, c *console) error {
	var p rpc.ExplainParams
	switch len(cmd.Words) {
	case 1:
		p.Action = cmd.Words[0]
	case 2:
		p.Run, p.Action = cmd.Words[0], cmd.Words[1]
	default:
		return usageError{"name one action, and before it the run if need be: bothy explain [RUN] ACTION"}
	}
	var err error
	if p.Run, err = cmd.name(ctx, c, p.Run, cmd.Project); err != nil {
		return err
	}
	project, err := c.project(cmd.Project)
	if err != nil {
		return err
	}
	p.Project = project
	return query(ctx, c, func(cl *client.Client) (rpc.Explained, error) { return cl.Explain(ctx, p) }, func(x rpc.Explained) error {
		return c.printLines(show.Explanation(x, columns(c.out, c.outTTY)))
	})
}
