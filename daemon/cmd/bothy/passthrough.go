package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
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
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Dir, cmd.Env = c.dir, c.environ
	cmd.Stdin, cmd.Stdout, cmd.Stderr = c.in, c.out, c.err
	err = cmd.Run()
	var ended *exec.ExitError
	if errors.As(err, &ended) && ended.ExitCode() >= 0 {
		return exitError{code: ended.ExitCode()}
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
