package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/alecthomas/kong"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// mcpLoginCmd has bothyd do it, which knows the plugin that can, and the daemon keep what comes of
// it.
type mcpLoginCmd struct{ offline[verbs.MCPLogin] }

// Run ends as bothyd ends.
func (cmd mcpLoginCmd) Run(ctx context.Context, c *console, parsed *kong.Context) error {
	cl, err := c.connect(ctx) // it may have to be started
	if err != nil {
		return err
	}
	c.close(cl)
	return cmd.offline.Run(ctx, c, parsed)
}

type mcpLogoutCmd struct {
	Server string `arg:"" complete:"mcp" help:"The server, as 'bothy mcp' lists it."`
}

// Help adds to the verb's help.
func (mcpLogoutCmd) Help() string {
	return `The login is removed from wherever it is kept, and what uses it is configured anew. The authorization server is not told: where it lists what may act for you, take Bothy from that list too.`
}

// Run removes the login.
func (cmd mcpLogoutCmd) Run(ctx context.Context, c *console) error {
	return query(ctx, c, func(cl *client.Client) (rpc.KeyRemoved, error) {
		return cl.Logout(ctx, rpc.KeyRef{Of: sdk.MCPLogin(cmd.Server)})
	}, func(r rpc.KeyRemoved) error {
		err := c.lines(fmt.Sprintf("logged out of %s; the login was removed from: %s", show.Line(cmd.Server), strings.Join(r.From, ", ")))
		for _, text := range r.Problems {
			c.say("bothy: %s", show.Text(text))
		}
		return err
	})
}
