package main

import (
	"context"
	"fmt"
	"net"
	"syscall"
)

type mcpServeCmd struct {
	Approve   bool   `help:"Let the person at the client answer what is proposed, where the client can ask them; without it nothing that needs an answer runs by this server."`
	HTTP      string `name:"http" placeholder:"ADDR" help:"Serve HTTP at this address of this machine, such as 127.0.0.1:8377, in the place of standard input and output; port 0 takes a free one."`
	TokenFile string `placeholder:"FILE" complete:"file" help:"With --http: the file that holds the token, mode 0600; it is made where it is missing. Without it a new token is printed."`
	Project   string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Help adds to the verb's help.
func (mcpServeCmd) Help() string {
	return `A program that speaks the Model Context Protocol, such as Claude Desktop, Claude Code, VS Code or Cursor, starts this and talks with it over its standard input and output. It has the project's tools, the tool run_agent that gives an agent a whole task, skills as prompts, and what runs did as resources. Each call is judged by your policy and recorded: what is not proven harmless is refused, unless a rule allows it, or you say --approve and answer in the client. A run that waits for you is answered by 'bothy proposals'. The log goes to standard error. docs/mcp.md has the settings.

With --http several programs share one server, and it ends with Ctrl-C. It prints its URL, and a token that each request has to bring.

Examples:

    bothy mcp serve
    bothy mcp serve --project ~/src/notes --approve
    bothy mcp serve --http 127.0.0.1:8377 --token-file ~/.config/bothy/mcp.token
`
}

// Run executes the bridge, a program of its own, in the place of this one.
func (cmd mcpServeCmd) Run(_ context.Context, c *console) error {
	if err := c.noJSON("frames of the protocol"); err != nil {
		return err
	}
	if cmd.TokenFile != "" && cmd.HTTP == "" {
		return usageError{"--token-file is for --http: standard input and output need no token"}
	}
	if cmd.HTTP != "" {
		if _, _, err := net.SplitHostPort(cmd.HTTP); err != nil {
			return usageError{fmt.Sprintf("--http %s is no address: say a host of this machine and a port, such as 127.0.0.1:8377", cmd.HTTP)}
		}
	}
	project, err := c.project(cmd.Project)
	if err != nil {
		return err
	}
	program, err := c.besideDaemon("bothy-mcp", "the server of MCP is not installed")
	if err != nil {
		return err
	}
	args := []string{program, "--bothy", c.exe, "--project", project}
	if cmd.Approve {
		args = append(args, "--approve")
	}
	if cmd.HTTP != "" {
		args = append(args, "--http", cmd.HTTP)
	}
	if cmd.TokenFile != "" {
		args = append(args, "--token-file", c.path(cmd.TokenFile))
	}
	if err := syscall.Exec(program, args, c.daemon().AbsoluteEnviron()); err != nil {
		return fmt.Errorf("start the server of MCP: %w", err)
	}
	return nil
}
