package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type mcpCmd struct {
	List   mcpListCmd               `cmd:"" default:"1" help:"List MCP servers and their state."`
	Tools  mcpToolsCmd              `cmd:"" help:"List the tools of an MCP server."`
	Read   mcpReadCmd               `cmd:"" help:"Read a resource of an MCP server, or list them."`
	Prompt mcpPromptCmd             `cmd:"" help:"Show what a prompt of an MCP server says, or list them."`
	Add    offline[verbs.MCPAdd]    `cmd:"" help:"Write the block of an MCP server into the configuration."`
	Import offline[verbs.MCPImport] `cmd:"" help:"Write blocks for the MCP servers that other programs have."`
	Accept offline[verbs.MCPAccept] `cmd:"" help:"Show what an MCP server is now, and accept it as it is."`
	Login  mcpLoginCmd              `cmd:"" help:"Log in to an MCP server."`
	Logout mcpLogoutCmd             `cmd:"" help:"Forget the login at an MCP server."`
	Remove offline[verbs.MCPRemove] `cmd:"" help:"Take the block of an MCP server away."`
	Serve  mcpServeCmd              `cmd:"" help:"Be an MCP server: programs that speak MCP use Bothy's tools and agents."`
}

// brought says that the project has servers of its own, which start nothing.
func brought(c *console) {
	root, is := sdk.ProjectOf(c.dir, c.env("HOME"))
	if !is {
		return
	}
	for _, name := range sdk.ProjectServers {
		if info, err := os.Stat(filepath.Join(root, name)); err == nil && info.Mode().IsRegular() {
			c.say("%s of this project names servers, which start nothing: `bothy mcp import %s` shows what each would start, and asks", name, show.Line(filepath.Join(root, name)))
		}
	}
}

type mcpListCmd struct{}

// Help adds to the help of the verb.
func (mcpListCmd) Help() string {
	return "A server that nobody needed yet is stopped: it starts when an agent that may use it works, or when one of its tools is called."
}

// Run prints one line a server; what is wrong with one stands below.
func (mcpListCmd) Run(ctx context.Context, c *console) error {
	servers := func(cl *client.Client) ([]rpc.Plugin, error) {
		list := []rpc.Plugin{}
		all, err := cl.Plugins(ctx)
		for _, p := range all {
			if strings.HasPrefix(p.Instance, sdk.MCPPrefix) {
				list = append(list, p)
			}
		}
		return list, err
	}
	return query(ctx, c, servers, func(list []rpc.Plugin) error {
		none := "no block names an MCP server: `bothy mcp add NAME -- COMMAND` writes one, `bothy mcp import` those that other programs have"
		err := tableOf(c, list, none, []string{"SERVER", "STATE", "ACCEPTED", "CONFINED"}, func(p rpc.Plugin) []string {
			accepted := "no"
			if p.Pinned {
				accepted = "yes"
			}
			return []string{strings.TrimPrefix(p.Instance, sdk.MCPPrefix), p.State, accepted, p.Confined}
		})
		if err != nil {
			return err
		}
		for _, p := range list {
			if p.Error != "" {
				c.say("%s: %s", show.Line(strings.TrimPrefix(p.Instance, sdk.MCPPrefix)), show.Text(p.Error))
			}
		}
		brought(c)
		return nil
	})
}
