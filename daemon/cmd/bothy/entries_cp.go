package main

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// fromTo is how cp and mv take what they are about.
type fromTo struct {
	Path string `arg:"" help:"The entry's path."`
	To   string `arg:"" help:"The path it shall have; what is there is overwritten."`
	ofRun
	Visibility string `enum:",visible,summarized,archived" default:"" placeholder:"LEVEL" help:"visible, summarized or archived; that of the source when absent."`
}

func (cmd fromTo) params(run rpc.RunRef) rpc.Move {
	return rpc.Move{Run: run.Run, Project: run.Project, Path: cmd.Path, To: cmd.To, Visibility: sdk.Visibility(cmd.Visibility)}
}

type entriesCpCmd struct{ fromTo }

// Run says what was copied.
func (cmd entriesCpCmd) Run(ctx context.Context, c *console) error {
	return queryRun(ctx, c, cmd, func(cl *client.Client, ctx context.Context, run rpc.RunRef) (sdk.EntryDone, error) {
		return cl.CopyEntry(ctx, cmd.params(run))
	}, done(c))
}

type entriesMvCmd struct{ fromTo }

// Run says what has another path.
func (cmd entriesMvCmd) Run(ctx context.Context, c *console) error {
	return queryRun(ctx, c, cmd.of(cmd.Path), func(cl *client.Client, ctx context.Context, run rpc.RunRef) (sdk.EntryDone, error) {
		return cl.MoveEntry(ctx, cmd.params(run))
	}, done(c))
}
