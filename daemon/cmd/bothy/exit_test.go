package main

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestLoopEndCode(t *testing.T) {
	for _, c := range []struct {
		end  loopEnd
		want int
	}{
		{loopEnd{Status: 200, Stop: "answer"}, 0},
		{loopEnd{Status: 200, Stop: "terminal"}, 0},
		{loopEnd{Status: 204, Stop: "terminal"}, 0},
		{loopEnd{Status: 200}, 0},
		{loopEnd{Status: 422, Stop: "terminal"}, 1},
		{loopEnd{Status: 413, Stop: "overflow"}, 1},
		{loopEnd{Status: 413, Stop: "failed"}, 1},
		{loopEnd{Status: 500, Stop: "failed"}, 1},
		{loopEnd{Status: 500}, 1},
		{loopEnd{Status: 409, Stop: "answer"}, 1},
		{loopEnd{Status: 500, Stop: "replay"}, 2},
		{loopEnd{Status: 200, Stop: "replay"}, 2},
		{loopEnd{Status: 500, Stop: "config"}, 2},
		{loopEnd{Status: 500, Stop: "max_turns"}, 3},
		{loopEnd{Status: 200, Stop: "max_turns"}, 3},
		{loopEnd{Status: 413, Stop: "repeated_calls"}, 3},
		{loopEnd{Status: 422, Stop: "consecutive_errors"}, 3},
		{loopEnd{Status: 500, Stop: "not_finished"}, 3},
		{loopEnd{Status: 102}, 3},
		{loopEnd{Status: 500, Stop: "question"}, 4},
		{loopEnd{Status: 500, Stop: "proposal"}, 4},
		{loopEnd{Status: 202}, 4},
		{loopEnd{Status: 499, Stop: "aborted"}, 5},
		{loopEnd{Status: 499}, 5},
		{loopEnd{Status: 499, Stop: "interrupted"}, 3},
		{loopEnd{Status: 499, Stop: "deadline"}, 3},
		{loopEnd{Status: 499, Stop: "max_turns"}, 3},
	} {
		if got := c.end.code(); got != c.want {
			t.Errorf("%+v exits with %d, want %d", c.end, got, c.want)
		}
	}
}

func TestErrorCode(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("x"), 1},
		{fmt.Errorf("x: %w", usageError{"y"}), 2},
		{&client.VersionError{}, 2},
		{&client.NotRunningError{}, 1},
		{rpc.Errorf(rpc.CodeParams, sdk.Validation, "x"), 2},
		{rpc.Errorf(rpc.CodeFailed, sdk.NotFound, "x"), 2},
		{rpc.Errorf(rpc.CodeFailed, sdk.Conflict, "x"), 1},
		{rpc.Errorf(rpc.CodeFailed, sdk.Unavailable, "x"), 1},
		{rpc.Errorf(rpc.CodeInternal, sdk.Internal, "x"), 1},
		{rpc.Errorf(rpc.CodeFailed, sdk.Aborted, "x"), 5},
		{fmt.Errorf("x: %w", context.Canceled), 5},
		{exitError{code: 4}, 4},
		{errors.Join(nil, exitError{code: 3}), 3},
	} {
		if got := errorCode(c.err); got != c.want {
			t.Errorf("%v exits with %d, want %d", c.err, got, c.want)
		}
	}
}
