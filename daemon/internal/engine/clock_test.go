package engine

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// leapingClock is a wall clock that goes a day forth, a day back and an hour
// back, from one look to the next.
type leapingClock struct {
	mu    sync.Mutex
	looks int
}

func (c *leapingClock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.looks++
	return time.Now().Round(0).Add([]time.Duration{0, 24 * time.Hour, -24 * time.Hour, -time.Hour}[c.looks%4])
}

// TestLeapingClock: no time limit strikes early or late, what took how long is
// true, and order is that of the commits, across a restart too (fault 53).
func TestLeapingClock(t *testing.T) {
	clock := &leapingClock{}
	h := prepareHouseWith(t, clock.now, calls(numbered("read", 1), numbered("read", 2), numbered("write", 3)), calls(numbered("write", 4)))
	h.config.Clock = clock.now
	begun := make(chan struct{}, 1)
	h.tools.on("read", func(_ context.Context, c sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		if left := time.Until(c.Deadline); left <= toolTime/2 || left > toolTime {
			t.Errorf("a call has %v", left)
		}
		time.Sleep(2 * time.Millisecond)
		return ok("read")
	})
	h.tools.on("write", waiting(begun))
	h.start()
	one := h.submit(Submission{Run: "r", Prompt: "one"})
	two := h.submit(Submission{Run: "r", Prompt: "two"})
	<-begun
	h.cut()
	h.tools.on("write", nil)
	h.start()
	for _, a := range []Accepted{one, two} {
		if l := h.await(a); l.Status != 200 {
			t.Errorf("%d ended %d: %s", l.Sequence, l.Status, l.Reason)
		}
	}
	turns, err := h.store.Turns(t.Context(), one.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	for i, turn := range turns {
		if turn.Duration < 0 || turn.Duration > time.Minute || turn.Sequence != i+1 || i > 0 && turn.Loop < turns[i-1].Loop {
			t.Errorf("turn %d of loop %d took %v", turn.Sequence, turn.Loop, turn.Duration)
		}
	}
	for _, e := range h.actions(one.Run.ID) {
		if d := attributes(t, e).Duration; d == nil || *d < 0 || *d > time.Minute.Milliseconds() {
			t.Errorf("%s took %s", e.Path, e.Attributes)
		}
	}
	h.checkOrder(one.Run.ID)
	h.check(one.Run.ID)
}

// checkOrder fails unless the run's rows have rising seqs and each loop's rows
// stand between its start and its end.
func (h *house) checkOrder(run int64) {
	h.t.Helper()
	rows, err := h.store.Journal(context.Background(), sdk.JournalQuery{Run: run})
	if err != nil {
		h.t.Fatal(err)
	}
	var seq, open int64
	for _, row := range rows {
		if row.Seq <= seq {
			h.t.Errorf("row %d comes after row %d", row.Seq, seq)
		}
		seq = row.Seq
		switch row.Kind {
		case sdk.KindLoopStarted:
			open = row.Loop
		case sdk.KindTurnOpened, sdk.KindTurnClosed, sdk.KindLoopEnded:
			if row.Loop != open {
				h.t.Errorf("%s of loop %d while loop %d is at work", row.Kind, row.Loop, open)
			}
		}
	}
}
