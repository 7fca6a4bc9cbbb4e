package main

import (
	"context"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// settle says what a call came to that an earlier process of this plugin had
// begun. Only the runner in the run's container can know: it outlived that
// process, and holds the exit status and the output. Where no container can be
// left, Podman is not started to find none.
func (b *bash) settle(ctx context.Context, call sdk.Invocation) (sdk.ToolResult, error) {
	result, _, err := b.settled(ctx, call)
	return result, err
}

// settled is settle, with what the command printed in all.
func (b *bash) settled(ctx context.Context, call sdk.Invocation) (sdk.ToolResult, *output, error) {
	out := &output{network: call.Network}
	b.protections.heard(call)
	m, settings, err := b.ready()
	if err != nil {
		return sdk.ToolResult{}, out, unknown(err)
	}
	if m == nil {
		if left, busy := sandbox.Left(settings.SocketDir); !left && !busy {
			return sdk.ToolResult{}, out, sdk.Errorf(sdk.Interrupted, "no container is left that the command could have run in")
		}
		if m, err = b.open(ctx); err != nil {
			return sdk.ToolResult{}, out, unknown(err)
		}
	}
	result, err := m.Settle(ctx, call.Run, call.CallID, out.add)
	switch {
	case sandbox.Code(err) == sandbox.CodeInvalid, sandbox.Code(err) == sandbox.CodeNotStarted:
		return sdk.Failed(classified(err)), out, nil // it was never started
	case err != nil:
		return sdk.ToolResult{}, out, unknown(err)
	}
	b.logger.Info("a command of an earlier process had ended", "run", call.Run, "call", call.CallID, "exit", result.ExitCode)
	return b.changes(answer(result, out), result, call.Project), out, nil
}

// unknown is the error of a call of which nothing is known, for whatever reason.
func unknown(err error) error {
	return sdk.Errorf(sdk.Interrupted, "nobody knows how the command ended: %w", err)
}
