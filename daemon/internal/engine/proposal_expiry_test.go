package engine

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// setClock is a wall clock that stands until it is set.
type setClock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *setClock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *setClock) move(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// nudge commits something, after which whoever waits looks at the clock.
func (h *askingHouse) nudge(run int64) {
	h.t.Helper()
	if _, err := h.store.Store.Commit(context.Background(), sdk.Change{Run: run, Notes: []sdk.Note{{Kind: sdk.KindNote + ".nudge"}}}); err != nil {
		h.t.Fatal(err)
	}
}

// TestProposalExpires: visibly, by the clock, also while no daemon runs; the rest
// of the turn is given up, the model is told and the loop goes on. An answer that
// comes later is a conflict, and nothing runs (fault 56).
func TestProposalExpires(t *testing.T) {
	for name, down := range map[string]bool{"while it waits": false, "while the daemon is down": true} {
		t.Run(name, func(t *testing.T) {
			clock := &setClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
			h := prepareAsking(t, calls(numbered("write", 1), numbered("read", 2)), say("then not"))
			h.config.Clock = clock.time
			h.start()
			a := h.submit(Submission{})
			p := h.proposed()
			if !p.Created.Equal(clock.time()) || !p.Expires.Equal(clock.time().Add(24*time.Hour)) {
				t.Errorf("from %v to %v", p.Created, p.Expires)
			}
			for _, d := range []time.Duration{-24 * time.Hour, 24 * time.Hour, 24*time.Hour - 1} { // back, forth, and nearly there
				clock.move(d)
				h.nudge(a.Run.ID)
				if now := h.proposed(); now.Hash != p.Hash || !now.Expires.Equal(p.Expires) {
					t.Errorf("at %v it is %+v", clock.time(), now)
				}
			}
			if down {
				h.cut()
			}
			clock.move(1)
			if down {
				h.start()
			} else {
				h.nudge(a.Run.ID)
			}
			if l := h.await(a); l.Status != 200 || l.Stop != sdk.StopAnswer {
				t.Errorf("ended %d %s: %s", l.Status, l.Stop, l.Reason)
			}
			if got := h.outcomes(a.Run.ID); got != "write:cancelled:aborted read:failed:aborted" || h.ran() != "" {
				t.Errorf("got %s, ran %s", got, h.ran())
			}
			if e := h.actions(a.Run.ID)[0]; e.Status() != sdk.StatusAborted || !strings.Contains(string(e.Attributes), "nobody answered within a day") {
				t.Errorf("%d %s", e.Status(), e.Body)
			}
			if _, err := h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept}); sdk.OutcomeOf(err) != sdk.Conflict || h.ran() != "" {
				t.Errorf("an answer: %v, ran %s", err, h.ran())
			}
			h.check(a.Run.ID)
		})
	}
}

// TestAnswerAtTheLastMoment: whether or not somebody has looked at the clock, what
// has expired takes no answer.
func TestAnswerAtTheLastMoment(t *testing.T) {
	clock := &setClock{now: time.Now()}
	h := prepareAsking(t, calls(numbered("write", 1)))
	h.config.Clock = clock.time
	h.config.Expiry = func() time.Duration { return time.Hour }
	h.start()
	a := h.submit(Submission{})
	p := h.proposed()
	clock.move(time.Hour)
	for _, answer := range []sdk.Answer{sdk.Accept, sdk.Reject, sdk.Edit} {
		if _, err := h.engine.Resolve(t.Context(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: answer, Arguments: []byte(`{}`)}); sdk.OutcomeOf(err) != sdk.Conflict {
			t.Errorf("%s: %v", answer, err)
		}
	}
	h.nudge(a.Run.ID)
	h.await(a)
	if h.ran() != "" {
		t.Error(h.ran())
	}
	h.check(a.Run.ID)
}

// TestAbortOfAProposal while it is answered: one of the two wins, and the loop
// ends once with every action's end, whoever it was.
// spec: wrong_abort_waits
func TestAbortOfAProposal(t *testing.T) {
	h := newAsking(t)
	for range 50 {
		h.models.mu.Lock()
		h.models.steps = []step{calls(numbered("write", 1), numbered("read", 2))}
		h.models.mu.Unlock()
		a := h.submit(Submission{})
		p := h.proposed()
		var both sync.WaitGroup
		both.Go(func() { _ = h.engine.Abort(context.Background(), a.Run.ID) })
		both.Go(func() {
			_, err := h.engine.Resolve(context.Background(), rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Accept})
			if err != nil && sdk.OutcomeOf(err) != sdk.Conflict {
				t.Error(err)
			}
		})
		both.Wait()
		h.await(a)
		h.checkRuns(a.Run.ID)
	}
}
