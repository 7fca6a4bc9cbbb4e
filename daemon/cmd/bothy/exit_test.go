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
