package main

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/bothyd/bothy/daemon"
	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/opening"
	"github.com/bothyd/bothy/sdk"
)

// mcpCmd writes the blocks of servers of MCP.
type mcpCmd struct {
	Add    mcpAddCmd    `cmd:"" help:"Write the block of an MCP server into the configuration."`
	Import mcpImportCmd `cmd:"" help:"Write blocks for the MCP servers that other programs have."`
	Accept mcpAcceptCmd `cmd:"" help:"Show what an MCP server is now, and accept it as it is."`
	Login  mcpLoginCmd  `cmd:"" help:"Log in to an MCP server."`
	Remove mcpRemoveCmd `cmd:"" help:"Take the block of an MCP server away."`
}

type mcpAddCmd struct{ verbs.MCPAdd }

// Run starts nothing.
func (cmd mcpAddCmd) Run(f *flags, c *console) error {
	e := config.MCPEdit{Name: cmd.Name, Unconfined: cmd.Unconfined, Confine: config.Confine{Network: cmd.Network, Paths: cmd.Paths, ReadPaths: cmd.ReadPaths}}
	var notes []string
	switch {
	case len(cmd.Command) > 0 && cmd.URL != "" || len(cmd.Command) == 0 && cmd.URL == "":
		return sdk.Errorf(sdk.Validation, "name the command of the server behind --, or its --url, and not both")
	case cmd.URL != "":
		e.URL = config.Text(cmd.URL)
		notes = opening.Notes(e)
	default:
		e.Command = config.Text(cmd.Command[0])
		for _, a := range cmd.Command[1:] {
			e.Args = append(e.Args, config.Text(a))
		}
		notes = opening.Of(&e, cmd.Command[0], cmd.Command[1:], true)
	}
	var err error
	if e.Env, err = assigned(cmd.Env); err != nil {
		return err
	}
	if e.Headers, err = assigned(cmd.Header); err != nil {
		return err
	}
	path, err := daemon.ConfigPath(f.Config)
	if err == nil {
		err = config.AddMCP(path, e)
	}
	return report(c, addedMCP{path, e.Name, e.Text(), notes}, err, func(c *console, done addedMCP) error {
		for _, note := range done.Notes {
			if _, err := fmt.Fprintf(c.out, "# %s\n", oneLine(note)); err != nil {
				return err
			}
		}
		_, err := fmt.Fprintf(c.out, "%s\nThis is in %s now. bothy tools call mcp__%s__TOOL tries it.\n", done.Block, oneLine(done.Config), done.Name)
		return err
	})
}

// addedMCP is a block that was written, or would be.
type addedMCP struct {
	Config string `json:"config,omitempty"`
	Name   string `json:"name"`
	Block  string `json:"block"`
	// Notes are what is open to it, and what the person has to do.
	Notes []string `json:"notes,omitempty"`
}

// reference is what a person writes for what is looked up, within a text.
var reference = regexp.MustCompile(`(env|secret)\("([^"\\$%{}]+)"\)`)

// assigned reads NAME=VALUE.
func assigned(list []string) (map[string]config.Expression, error) {
	values := map[string]config.Expression{}
	for _, s := range list {
		name, text, is := strings.Cut(s, "=")
		if !is || name == "" {
			return nil, sdk.Errorf(sdk.Validation, "%q is no NAME=VALUE", s)
		}
		var parts []config.Expression
		at := 0
		for _, m := range reference.FindAllStringSubmatchIndex(text, -1) {
			if m[0] > at {
				parts = append(parts, config.Text(text[at:m[0]]))
			}
			parts = append(parts, config.Lookup(text[m[2]:m[3]], text[m[4]:m[5]], nil))
			at = m[1]
		}
		if at < len(text) || len(parts) == 0 {
			parts = append(parts, config.Text(text[at:]))
		}
		values[name] = config.Joined(parts)
	}
	return values, nil
}

type mcpRemoveCmd struct{ verbs.MCPRemove }

// Run takes the block out of the user's file; a server that runs ends then.
func (cmd mcpRemoveCmd) Run(f *flags, c *console) error {
	path, err := daemon.ConfigPath(f.Config)
	if err != nil {
		return err
	}
	switch is, err := config.RemoveBlock(path, "mcp", cmd.Name); {
	case err != nil:
		return err
	case !is:
		return sdk.Errorf(sdk.NotFound, "%s has no mcp block %q", path, cmd.Name)
	}
	_, _, err = config.EditLock(config.LockPath(path), func(l *config.Lock) error {
		delete(l.Plugins, sdk.MCPPrefix+cmd.Name)
		return nil
	})
	if err != nil {
		return err
	}
	return report(c, map[string]string{"name": cmd.Name, "config": path}, nil, func(c *console, _ map[string]string) error {
		_, err := fmt.Fprintf(c.out, "removed %s from %s\n", cmd.Name, oneLine(path))
		return err
	})
}
