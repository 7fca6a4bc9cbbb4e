package main

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// ofLearning is how a verb takes where something is learned, or not.
type ofLearning struct {
	Owner   string `placeholder:"OWNER" xor:"of" help:"Of somebody else: the label of a person's block, or of a group."`
	Agent   string `placeholder:"NAME" complete:"agent" xor:"of" help:"Of the runs of an agent."`
	Project string `placeholder:"DIR" complete:"dir" xor:"of" help:"In a project."`
}

type memoryOffCmd struct{ ofLearning }

// Help adds to the verb's help.
func (memoryOffCmd) Help() string {
	return `Without a flag nothing is learned of you. It is written into the block of the plugin memory in your configuration, and is in force when the command ends. What is remembered stays, and is told: 'bothy memory rm' forgets it, and 'bothy run --no-memory' leaves it out of a run.

Examples:

    bothy memory off
    bothy memory off --project .
    bothy memory off --agent researcher
    bothy memory on --project .
`
}

// Run has nothing be learned.
func (cmd memoryOffCmd) Run(ctx context.Context, c *console) error { return cmd.set(ctx, c, false) }

type memoryOnCmd struct{ ofLearning }

// Run has something be learned again.
func (cmd memoryOnCmd) Run(ctx context.Context, c *console) error { return cmd.set(ctx, c, true) }

func (o ofLearning) set(ctx context.Context, c *console, learn bool) error {
	x, of := rpc.Learning{Learn: learn, Owner: o.Owner, Agent: o.Agent}, ""
	switch {
	case o.Project != "":
		root, err := c.project(o.Project)
		if err != nil {
			return err
		}
		x.Folder, of = root, "in "+root
	case o.Agent != "":
		of = "of the runs of " + o.Agent
	case o.Owner != "":
		of = "of " + o.Owner
	default:
		x.Owner, of = sdk.LocalOwner, "of you"
	}
	return query(ctx, c, func(cl *client.Client) (rpc.LearningSet, error) { return cl.SetLearning(ctx, x) }, told(c, func(set rpc.LearningSet) string {
		what := "nothing is learned"
		if learn {
			what = "facts are learned"
		}
		if set.Changed {
			return fmt.Sprintf("%s %s (wrote %s)", what, show.Line(of), set.File)
		}
		return fmt.Sprintf("%s %s, as before", what, show.Line(of))
	}))
}
