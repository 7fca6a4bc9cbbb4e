package host

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

func (r *rig) settle(t testing.TB, name, id string, limit time.Duration) (sdk.ToolResult, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return r.Settle(ctx, sdk.Invocation{Tool: name, CallID: id, Run: "run"})
}

// TestSettle: only what the plugin itself says is a result.
func TestSettle(t *testing.T) {
	r := started(t, nil)
	for range 2 {
		got, err := r.settle(t, "fault__kept", "exit", 30*time.Second)
		if err != nil {
			t.Fatal(err)
		}
		if got.Success || got.Outcome != "exit:3" || got.Output != "run" || got.Metadata["exit_code"] != 3.0 || got.Metadata["recovered"] != true {
			t.Errorf("settled as %+v", got)
		}
	}
	got, err := r.settle(t, "kept", "bare", 30*time.Second)
	if err != nil || !got.Success || got.Output != "done" || got.Metadata["recovered"] != true {
		t.Errorf("settled as %+v %v", got, err)
	}
	_, err = r.settle(t, "no_such_tool", "exit", 30*time.Second)
	wantOutcome(t, err, sdk.NotFound)
}

func TestSettleIsInterruptedWhenNobodyKnows(t *testing.T) {
	r := started(t, nil)
	for _, c := range []struct {
		name, id string
		limit    time.Duration
	}{
		{"noop", "exit", 30 * time.Second}, // keeps nothing
		{"kept", "another", 30 * time.Second},
		{"kept", "panic", 30 * time.Second},
		{"kept", "hang", 200 * time.Millisecond},
		{"kept", "crash", 30 * time.Second}, // last: the plugin starts again
	} {
		_, err := r.settle(t, c.name, c.id, c.limit)
		wantOutcome(t, err, sdk.Interrupted)
		if errors.Unwrap(err) == nil {
			t.Errorf("%s %s: the error does not say why: %v", c.name, c.id, err)
		}
	}
	if got, err := r.settle(t, "kept", "bare", 30*time.Second); err != nil || !got.Success {
		t.Errorf("after the plugin came back: %+v %v", got, err)
	}
}
