package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/bothyd/bothy/sdk/rpc"
)

// converse opens a conversation in the project: the terminal front end, a program of its
// own, takes the place of this one. Its libraries would cost every verb their start.
func (c *console) converse(ctx context.Context, o opening) error {
	program := filepath.Join(filepath.Dir(filepath.Dir(c.exe)), "libexec", "bothy", "bothy-terminal")
	if _, err := os.Stat(program); err != nil {
		return fmt.Errorf("the terminal front end is not installed (%w): `bothy chat` talks line by line", err)
	}
	project, err := c.project("")
	if err != nil {
		return err
	}
	c.role = rpc.RoleApprove
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	c.tellUntrusted(ctx, cl, project)
	err = c.openInstructions(ctx, cl, project, true, true)
	socket, run := cl.Socket, o.run
	if err == nil && o.last {
		run, err = lastRun(ctx, cl, project)
	}
	c.close(cl)
	if err != nil {
		return err
	}
	args := []string{program, "--socket", socket, "--project", project, "--bothy", c.exe}
	if run != "" {
		args = append(args, "--run", run)
	}
	if state := c.stateFolder(); state != "" {
		args = append(args, "--state", filepath.Join(state, "terminal"))
	}
	if err := syscall.Exec(program, args, c.environ); err != nil {
		return fmt.Errorf("start the terminal front end: %w", err)
	}
	return nil
}

// opening says which conversation is opened: a new one, the last run's or that of a run.
type opening struct {
	last bool
	run  string
}

// openingOf reads a command line without a verb.
func openingOf(args []string) (o opening, is bool) {
	switch {
	case len(args) == 0:
		return o, true
	case len(args) == 1 && (args[0] == "-c" || args[0] == "--continue"):
		return opening{last: true}, true
	case len(args) == 2 && (args[0] == "-r" || args[0] == "--run"):
		return opening{run: args[1]}, true
	}
	return o, false
}

// stateFolder is where programs of the user keep state of Bothy; empty where nobody says.
func (c *console) stateFolder() string {
	if dir := c.env("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "bothy")
	}
	if home := c.env("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "bothy")
	}
	return ""
}
