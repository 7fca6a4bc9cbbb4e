package client_test

import (
	"context"
	"errors"
	"os/exec"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// A command that was accepted by run/resolve runs here, and the run's model reads what it prints. When somebody
// cancels it the next piece is refused, by which the command ends.
func ExampleClient_Output() {
	ctx := context.Background()
	c := &client.Client{Role: rpc.RoleApprove}
	defer c.Close()

	run := func(runID, path, line string) error {
		stdout := c.Output(ctx, rpc.Stream{Run: runID, Path: path, Channel: 1})
		stderr := c.Output(ctx, rpc.Stream{Run: runID, Path: path, Channel: 2})
		cmd := exec.CommandContext(ctx, "bash", "-c", line)
		cmd.Stdout, cmd.Stderr = stdout, stderr
		err := errors.Join(cmd.Run(), stdout.Close(), stderr.Close())
		var status *exec.ExitError
		if err != nil && !errors.As(err, &status) {
			_, err = c.StreamAborted(ctx, rpc.StreamAborted{Run: runID, Path: path, Reason: err.Error()})
			return err
		}
		code := cmd.ProcessState.ExitCode()
		_, err = c.StreamCompleted(ctx, rpc.StreamCompleted{Run: runID, Path: path, ExitCode: &code})
		return err
	}
	_ = run // with the run and the path that run/proposal told
}
