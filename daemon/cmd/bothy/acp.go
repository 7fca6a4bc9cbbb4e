package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bothyd/bothy/sdk"
)

type acpCmd struct {
	Agent          string `short:"a" placeholder:"NAME" complete:"agent" default:"chat" help:"The agent block of new sessions."`
	Model          string `short:"m" complete:"model" help:"The model of new sessions: an alias, or PROVIDER/NAME."`
	Mode           string `enum:",${modes}" default:"" placeholder:"MODE" help:"The mode of new sessions, as 'bothy run --mode' has it; the agent's own when absent. The editor can choose another."`
	AllowDangerous bool   `help:"Let the editor choose the mode full, which asks about nothing."`
}

// Help adds to the verb's help.
func (acpCmd) Help() string {
	return `An editor starts this and talks with it over its standard input and output (Agent Client Protocol, version 1): a session is a run, the folder that is open in the editor is its project, and what the agent proposes is asked in the editor. The log goes to standard error. docs/editors.md has the settings of Zed, JetBrains and Neovim.

Examples:

    bothy acp
    bothy acp --agent default -m ollama/qwen3
`
}

// Run executes the bridge, a program of its own, in the place of this one.
func (cmd acpCmd) Run(_ context.Context, c *console) error {
	if err := c.noJSON("frames of the editor's protocol"); err != nil {
		return err
	}
	if cmd.Mode == string(sdk.ModeFull) && !cmd.AllowDangerous {
		return usageError{"--mode full runs whatever is not denied, without a question: say --allow-dangerous as well if you mean that"}
	}
	program, err := c.besideDaemon("bothy-acp", "the bridge for editors is not installed")
	if err != nil {
		return err
	}
	args := []string{program, "--bothy", c.exe, "--agent", cmd.Agent}
	for _, flag := range [][2]string{{"--model", cmd.Model}, {"--mode", cmd.Mode}} {
		if flag[1] != "" {
			args = append(args, flag[0], flag[1])
		}
	}
	if cmd.AllowDangerous {
		args = append(args, "--allow-dangerous")
	}
	if err := syscall.Exec(program, args, c.daemon().AbsoluteEnviron()); err != nil {
		return fmt.Errorf("start the bridge for editors: %w", err)
	}
	return nil
}

// besideDaemon is a program that belongs to the daemon's installation. Missing says that it is not there.
func (c *console) besideDaemon(name, missing string) (string, error) {
	bothyd, err := c.daemon().Program()
	if err != nil {
		return "", err
	}
	program := filepath.Join(filepath.Dir(filepath.Dir(bothyd)), "libexec", "bothy", name)
	if _, err := os.Stat(program); err != nil {
		return "", fmt.Errorf("%s (%w)", missing, err)
	}
	return program, nil
}
