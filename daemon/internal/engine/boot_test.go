package engine

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// slowTurns reads the turns of a second run only after a commit was refused.
type slowTurns struct {
	*watchedStore
	reads   int
	refused chan struct{}
}

func (s *slowTurns) Turns(ctx context.Context, run int64) ([]sdk.Turn, error) {
	if s.reads++; s.reads == 2 {
		select {
		case <-s.refused:
		case <-time.After(100 * time.Millisecond): // no work has begun, as it should be
		}
	}
	return s.watchedStore.Turns(ctx, run)
}

// TestStartOnAFullDisk: what is left is taken up when there is room; that
// there is none yet keeps no engine from starting.
func TestStartOnAFullDisk(t *testing.T) {
	h := newHouse(t)
	var runs []int64
	for _, alias := range []string{"a", "b"} {
		a, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: alias})
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, a.Run.ID)
	}
	h.cut()
	for _, run := range runs {
		_, err := h.store.Commit(t.Context(), sdk.Change{Run: run, OpenTurn: &sdk.Turn{}, Writes: []sdk.Write{{
			Path: "log://turn_1/bash/x", Writer: sdk.WriterSystem, State: sdk.StateStreaming, Phase: sdk.PhaseStarted, Turn: 1,
			Attributes: encode(sdk.ActionCall{CallID: "call_1", Tool: "bash"}),
		}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	s := &slowTurns{watchedStore: h.store, refused: make(chan struct{}, 1000)}
	h.store.setRefuse(func(int, sdk.Change) error {
		s.refused <- struct{}{}
		return errFull
	})
	h.config.Store = s
	h.start()
	<-s.refused
	<-s.refused
	h.store.setRefuse(nil)
	for _, run := range runs {
		h.untilClosed(run)
		if got := h.outcomes(run); got != "bash:failed:interrupted" {
			t.Errorf("run %d has %s", run, got)
		}
	}
	h.check(runs...)
}

// TestLeftLoopThatCannotGoOn ends, with what its calls came to.
func TestLeftLoopThatCannotGoOn(t *testing.T) {
	for name, spoil := range map[string]func(r *ruin){
		"its agent is gone": func(r *ruin) { delete(r.agents, "free") },
		"its model is gone": func(r *ruin) { r.models.gone = true },
		"no folder can be made": func(r *ruin) {
			if err := os.WriteFile(filepath.Join(r.dir, "runs"), nil, 0o600); err != nil {
				r.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRuin(t)
			r.opened()
			r.left(sdk.Change{Writes: []sdk.Write{answered("bash", "write", "read"), started(0, "bash"), started(1, "write"), recorded(2, "read")}})
			r.tools.settles = map[string]sdk.ToolResult{"bash": {Success: true, Output: "held"}}
			spoil(r)
			r.start()
			for i, l := range r.loops {
				if l = r.await(Accepted{Run: r.run, Loop: l}); l.Status != 500 {
					t.Errorf("loop %d ended %d %q: %s", i, l.Status, l.Stop, l.Reason)
				}
			}
			if got, want := r.outcomes(r.run.ID), "bash:resolved write:failed:interrupted read:failed:aborted"; got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			r.check(r.run.ID)
		})
	}
}
