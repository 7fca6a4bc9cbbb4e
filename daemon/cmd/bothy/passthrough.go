package main

import (
	"context"
	"fmt"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"
)

// passThrough runs bothyd for a verb that needs no daemon and ends as it ends.
func (c *console) passThrough(ctx context.Context, args ...string) error {
	path, err := c.bothyd()
	if err != nil {
		return err
	}
	if c.json {
		end := slices.Index(args, "--") // behind it nothing is taken for a flag
		if end < 0 {
			end = len(args)
		}
		args = slices.Insert(slices.Clone(args), end, "--json")
	}
	_, restore := c.interrupts() // Ctrl-C reaches both: bothyd says how it ends
	defer restore()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.Dir, cmd.Env = c.dir, c.environ
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.in, c.out, c.err
	err = cmd.Run()
	if ended := cmd.ProcessState; ended != nil && ended.ExitCode() > 0 {
		return exitError{code: ended.ExitCode()}
	} else if ended != nil && ended.Success() {
		return nil // it was told to end, perhaps, and did
	}
	return fmt.Errorf("%s: %w", path, err)
}
