package main

import (
	"fmt"

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
