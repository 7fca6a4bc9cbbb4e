package sdk

import "testing"

// TestStatus holds the one table that derives a status from a state and an outcome. A number within an
// outcome is never one.
// spec: schemes_status_visibility
func TestStatus(t *testing.T) {
	for _, c := range []struct {
		state   State
		outcome Outcome
		want    int
	}{
		{StateResolved, "", 200},
		{StateProposed, "", 202},
		{StateStreaming, "", 102},
		{StateCancelled, "", 499},
		{StateCancelled, Timeout, 499},
		{StateFailed, Validation, 400},
		{StateFailed, Permission, 403},
		{StateFailed, NotFound, 404},
		{StateFailed, Misnamed, 404},
		{StateFailed, Conflict, 409},
		{StateFailed, Again, 409},
		{StateFailed, Overflow, 413},
		{StateFailed, Aborted, 499},
		{StateFailed, Interrupted, 499},
		{StateFailed, "", 500},
		{StateFailed, Exit(1), 500},
		{StateFailed, Exit(404), 500},
		{StateFailed, "overflow:1234", 500},
		{StateFailed, Timeout, 500},
		{StateFailed, PluginCrashed, 500},
		{StateFailed, OutOfMemory, 500},
		{StateFailed, Unavailable, 500},
		{StateFailed, Internal, 500},
		{StateFailed, "of a plugin", 500},
	} {
		if got := Status(c.state, c.outcome); got != c.want {
			t.Errorf("%s %s is %d, want %d", c.state, c.outcome, got, c.want)
		}
	}
}
