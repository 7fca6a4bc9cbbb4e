package wire

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestFailureIsForPeople: what Go says of an ended context reaches nobody.
func TestFailureIsForPeople(t *testing.T) {
	for _, c := range []struct {
		err     error
		outcome sdk.Outcome
		message string
	}{
		{context.Canceled, sdk.Aborted, "the call was aborted"},
		{fmt.Errorf("read a: %w", context.Canceled), sdk.Aborted, "read a: aborted"},
		{context.DeadlineExceeded, sdk.Timeout, "the call ran out of time"},
		{sdk.Errorf(sdk.Conflict, "wait: %w", context.DeadlineExceeded), sdk.Conflict, "wait: out of time"},
		{errors.New("no context canceled here"), sdk.Internal, "no context canceled here"},
	} {
		f := Failure(c.err)
		if f.GetOutcome() != string(c.outcome) || f.GetMessage() != c.message {
			t.Errorf("%v became %s: %s", c.err, f.GetOutcome(), f.GetMessage())
		}
	}
	if Failure(nil) != nil {
		t.Error("no error became a failure")
	}
}
