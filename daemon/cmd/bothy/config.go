package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk/client"
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
	cl, err := c.attach(ctx)
	var down *client.NotRunningError
	if errors.As(err, &down) {
		return fmt.Errorf("bothyd is not running: it reads the configuration when it starts (no answer at %s)", down.Socket)
	}
	if err != nil {
		return err
	}
	defer c.close(cl)
	r, err := cl.Reload(ctx)
	if err != nil {
		return err
	}
	if c.json {
		if err := c.printJSON(r); err != nil {
			return err
		}
	} else {
		c.printReloaded(r)
	}
	if wrong(r) {
		return exitError{code: exitUsage}
	}
	return nil
}

func (c *console) printReloaded(r rpc.Reloaded) {
	for _, d := range r.Diagnostics {
		c.say("%s", escape(d.Text))
	}
	switch {
	case !r.Applied:
		c.say("bothy: nothing was changed: the daemon goes on with what it had")
	case len(r.Changes) == 0:
		fmt.Fprintln(c.out, "nothing changed")
	}
	for _, x := range r.Changes {
		fmt.Fprintln(c.out, escapeLine(x.Text))
	}
}

// wrong reports whether there is something to mend.
func wrong(r rpc.Reloaded) bool {
	for _, d := range r.Diagnostics {
		if d.Severity == "error" {
			return true
		}
	}
	return !r.Applied
}
