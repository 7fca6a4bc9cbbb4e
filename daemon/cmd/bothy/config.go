package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type configCmd struct {
	Check  offline[struct{}]         `cmd:"" help:"Read the configuration and show every mistake where it stands."`
	Show   offline[struct{}]         `cmd:"" help:"Print every value with the place it comes from."`
	Path   offline[struct{}]         `cmd:"" help:"Print where your configuration is, or would be."`
	Init   offline[verbs.ConfigInit] `cmd:"" help:"Write a first configuration with everything commented out."`
	Reload configReloadCmd           `cmd:"" help:"Make the daemon read the configuration now, and say what changed."`
}

type configReloadCmd struct{}

// Help adds to the verb's help.
func (configReloadCmd) Help() string {
	return "The daemon does so by itself when a file changes. With a mistake in them it keeps what it has and the exit code is 2."
}

// Run does not start a daemon: that would read the files anyway.
func (configReloadCmd) Run(ctx context.Context, c *console) error {
	return queryRunning(ctx, c, "it reads the configuration when it starts", func(cl *client.Client) (rpc.Reloaded, error) {
		return cl.Reload(ctx)
	}, c.printReloaded, exitUnless(exitUsage, reloaded))
}

func (c *console) printReloaded(r rpc.Reloaded) error {
	for _, d := range r.Diagnostics {
		c.say("%s", show.Text(d.Text))
	}
	switch {
	case !r.Applied:
		c.say("bothy: nothing was changed: the daemon goes on with what it had")
	case len(r.Changes) == 0:
		fmt.Fprintln(c.out, "nothing changed")
	}
	for _, x := range r.Changes {
		fmt.Fprintln(c.out, show.Line(x.Text))
	}
	return nil
}

// reloaded reports whether there is nothing to mend.
func reloaded(r rpc.Reloaded) bool { return r.Applied && !hasErrors(r.Diagnostics) }

func hasErrors(list []rpc.Diagnostic) bool {
	return slices.ContainsFunc(list, func(d rpc.Diagnostic) bool { return d.Severity == "error" })
}
