package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestRecoveryOfAWaitingAction: it still waits, and costs nothing but its
// worker, until somebody decides.
func TestRecoveryOfAWaitingAction(t *testing.T) {
	for name, c := range map[string]struct {
		decision sdk.Write
		calls    string
		actions  string
	}{
		"approved": {
			sdk.Write{State: sdk.StateStreaming, Phase: sdk.PhaseApproved},
			"read write read", "read:resolved write:resolved read:resolved",
		},
		"rejected": {
			sdk.Write{State: sdk.StateFailed, Outcome: sdk.Permission, Phase: sdk.PhaseEnded},
			"read", "read:resolved write:failed:permission read:failed:aborted",
		},
		"cancelled": {
			sdk.Write{State: sdk.StateCancelled, Outcome: sdk.Aborted, Phase: sdk.PhaseEnded},
			"read", "read:resolved write:cancelled:aborted read:failed:aborted",
		},
	} {
		for _, down := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, down %v", name, down), func(t *testing.T) {
				r := newRuin(t)
				r.opened()
				r.left(sdk.Change{Writes: []sdk.Write{answered("read", "write", "read"), recorded(0, "read"),
					at(1, "write", sdk.PhaseRecorded, sdk.StateProposed, ""), recorded(2, "read")}})
				for range 2 { // across one more stop, too
					r.start()
					r.until("the run waits", func() bool { return r.status() == sdk.StatusProposed })
					if got := r.outcomes(r.run.ID); !strings.HasPrefix(got, "read:resolved write:proposed read:streaming") {
						t.Fatal(got)
					}
					r.cut()
				}
				c.decision.Path = "log://turn_1/write/f1"
				if down {
					r.left(sdk.Change{Writes: []sdk.Write{c.decision}})
				}
				r.start()
				if !down {
					r.left(sdk.Change{Writes: []sdk.Write{c.decision}})
				}
				if l := r.await(Accepted{Run: r.run, Loop: r.loops[0]}); l.Status != 200 {
					t.Errorf("ended %d: %s", l.Status, l.Reason)
				}
				if got := strings.Join(r.tools.calledTools(), " "); got != c.calls {
					t.Errorf("called %q, want %q", got, c.calls)
				}
				if got := r.outcomes(r.run.ID); got != c.actions {
					t.Errorf("got  %s\nwant %s", got, c.actions)
				}
				r.await(Accepted{Run: r.run, Loop: r.loops[1]})
				r.check(r.run.ID)
			})
		}
	}
}

func (r *ruin) status() int {
	r.t.Helper()
	run, err := r.store.Run(context.Background(), r.run.ID)
	if err != nil {
		r.t.Fatal(err)
	}
	return run.Status
}
