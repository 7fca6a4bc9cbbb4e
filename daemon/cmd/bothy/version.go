package main

import (
	"fmt"

	"github.com/alecthomas/kong"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

type versionCmd struct{}

// Run does not ask the daemon; `bothy status` has its version.
func (versionCmd) Run(c *console) error {
	if c.json {
		return c.printJSON(map[string]string{"version": sdk.Version, "protocol": rpc.Protocol})
	}
	_, err := fmt.Fprintln(c.out, "bothy", sdk.Version)
	return err
}

// versionFlag is --version beside a verb, which then does nothing; see familiar for it alone.
type versionFlag bool

// BeforeReset ends the call before any verb is looked at.
func (versionFlag) BeforeReset(app *kong.Kong) error {
	if _, err := fmt.Fprintln(app.Stdout, "bothy", sdk.Version); err != nil {
		return err
	}
	app.Exit(exitOK)
	return nil
}
