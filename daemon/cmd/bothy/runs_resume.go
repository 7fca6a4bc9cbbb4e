package main

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// followed is a verb that queues something in a run, and shows what comes of it.
type followed struct {
	runArg
	Format string `enum:"text,json,stream-json" default:"text" help:"As in 'bothy run'."`
	Quiet  bool   `short:"q" help:"Print the answer alone."`
}

type runsResumeCmd struct {
	followed
	AnswerWithin *time.Duration `placeholder:"TIME" help:"As in 'bothy run'."`
}

// Help adds to the verb's help.
func (runsResumeCmd) Help() string {
	return `A run can be resumed when its last prompt was aborted, failed, or was stopped by a guard. The agent gets a short prompt that tells it to go on, with everything it did so far before its eyes; it is followed like a prompt of 'bothy run'.

Not needed after a crash or a stop of the daemon: what was at work then goes on by itself.

Examples:

    bothy runs resume
    bothy runs resume fix-42 --format json

` + exitCodes
}

// Run queues the prompt and follows it to its end.
func (cmd runsResumeCmd) Run(ctx context.Context, c *console) error {
	return cmd.follow(ctx, c, cmd.AnswerWithin, (*client.Client).Resume)
}

// follow queues something in the run and follows it to its end.
func (f followed) follow(ctx context.Context, c *console, within *time.Duration, queue func(*client.Client, context.Context, rpc.RunRef) (rpc.Accepted, error)) error {
	if c.json && f.Format == "text" {
		f.Format = "json"
	}
	who := modeFlags{AnswerWithin: within}.approver(c, f.Format == "text")
	cl, ref, err := f.open(ctx, c)
	if err != nil {
		return err
	}
	defer c.close(cl)
	pressed := c.listen()
	defer pressed.stop()
	c.daemon().Give(ctx, cl)
	accepted, err := queue(cl, ctx, ref)
	if err != nil {
		return err
	}
	return runCmd{Format: f.Format, Quiet: f.Quiet}.show(ctx, c, cl, accepted, who, pressed)
}
