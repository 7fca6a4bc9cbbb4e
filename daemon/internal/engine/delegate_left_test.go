package engine

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// leftDelegation is a house whose daemon was cut while a child worked.
func leftDelegation(t *testing.T) (h *house, a Accepted, child sdk.Run) {
	begun := make(chan struct{}, 1)
	h = delegatingHouse(t, map[string][]step{"do it": {calls(giving("worker", "below"))}, "below": {hanging(begun), calls(numbered("write", 1))}})
	h.start()
	a = h.submit(Submission{Agent: "lead"})
	<-begun
	h.cut()
	return h, a, h.childrenIn(a.Run.ID)[0]
}

// TestAParentThatCannotGoOn: a loop that ends by being taken up ends its children, and their ends are its calls'.
func TestAParentThatCannotGoOn(t *testing.T) {
	h, a, child := leftDelegation(t)
	h.models.gone = true
	h.start()
	if l := h.await(a); l.Status != sdk.StatusFailed {
		t.Errorf("the parent ended with %+v", l)
	}
	if l := h.promptOf(child.ID); isOpen(l) {
		t.Errorf("the child is %+v", l)
	}
	if got := h.outcomes(a.Run.ID); got != "delegate:cancelled:aborted" {
		t.Errorf("the call came to %s", got)
	}
	h.check(a.Run.ID, child.ID)
}

// TestAParentThatCannotBeRead: a loop of which nobody can tell what it did ends its children all the same, and theirs.
func TestAParentThatCannotBeRead(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := delegatingHouse(t, map[string][]step{
		"do it": {calls(giving("lead", "below"))}, "below": {calls(giving("worker", "deeper"))}, "deeper": {hanging(begun), calls(numbered("write", 1))},
	})
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	<-begun
	h.cut()
	child := h.childrenIn(a.Run.ID)[0]
	deeper := h.childrenIn(child.ID)[0]
	h.config.Store = &unreadableRun{h.store, a.Run.ID}
	h.start()
	h.untilIdle()
	if l := h.promptOf(a.Run.ID); l.Status != sdk.StatusFailed || l.Reason != "the entries are broken" {
		t.Errorf("the parent ended with %+v", l)
	}
	for _, run := range []int64{child.ID, deeper.ID} {
		if l := h.promptOf(run); l.Status != sdk.StatusAborted || l.Reason != errCaller.Error() {
			t.Errorf("the child ended with %+v", l)
		}
	}
	if ran := h.ran(); ran != "" {
		t.Errorf("it ran %s", ran)
	}
	h.check(child.ID, deeper.ID)
}

// unreadableRun is a store that holds one run whose entries nobody can read, now or later.
type unreadableRun struct {
	*watchedStore
	run int64
}

func (s *unreadableRun) Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error) {
	if q.Run == s.run {
		return nil, sdk.Errorf(sdk.Validation, "the entries are broken")
	}
	return s.watchedStore.Entries(ctx, q)
}

// TestAnOrphan: a child at work for which no call waits any more is ended by the next daemon, and does nothing.
func TestAnOrphan(t *testing.T) {
	h, a, child := leftDelegation(t)
	_, err := h.store.Store.Commit(t.Context(), sdk.Change{Run: a.Run.ID, EndLoop: &sdk.LoopEnd{Loop: a.Loop.ID, Status: sdk.StatusFailed, Stop: sdk.StopFailed, Reason: "for the test"}})
	if err != nil {
		t.Fatal(err)
	}
	h.start()
	h.untilIdle()
	if l := h.promptOf(child.ID); l.Status != sdk.StatusAborted || l.Reason != errCaller.Error() {
		t.Errorf("the child ended with %+v", l)
	}
	if ran := h.ran(); ran != "" {
		t.Errorf("it ran %s", ran)
	}
	h.check(child.ID)
}

// unreadable is a store that cannot be read for a while.
type unreadable struct {
	*watchedStore
	loops, turns atomic.Int32 // how often yet
}

func (s *unreadable) Loops(ctx context.Context, run int64) ([]sdk.Loop, error) {
	if s.loops.Add(-1) >= 0 {
		return nil, sdk.Errorf(sdk.Internal, "the disk is slow")
	}
	return s.watchedStore.Loops(ctx, run)
}

func (s *unreadable) Turns(ctx context.Context, run int64) ([]sdk.Turn, error) {
	if s.turns.Add(-1) >= 0 {
		return nil, sdk.Errorf(sdk.Internal, "the disk is slow")
	}
	return s.watchedStore.Turns(ctx, run)
}

// TestChildThatCannotBeRead: a call waits for its child, and has what that came to, also while the store cannot be read; a
// daemon that stops meanwhile leaves both.
func TestChildThatCannotBeRead(t *testing.T) {
	const forEver = 1 << 30
	for name, c := range map[string]struct{ loops, turns int32 }{"its prompt": {loops: 2}, "what it came to": {turns: 2}, "until the end": {loops: forEver}} {
		t.Run(name, func(t *testing.T) {
			h := delegatingHouse(t, map[string][]step{"do it": {calls(giving("worker", "below")), say("so it is")}})
			s := &unreadable{watchedStore: h.store}
			h.config.Store = s
			armed := make(chan struct{})
			answers := say("the answer")
			h.models.each = func(was func(sdk.Request) step) func(sdk.Request) step {
				return func(req sdk.Request) step {
					if last := req.Messages[len(req.Messages)-1]; last.Text != "below" {
						return was(req)
					}
					s.loops.Store(c.loops)
					s.turns.Store(c.turns)
					defer close(armed)
					return answers
				}
			}(h.models.each)
			h.start()
			a := h.submit(Submission{Agent: "lead"})
			<-armed
			if c.loops == forEver {
				h.until("the child has ended", func() bool {
					all, err := h.store.Store.Loops(t.Context(), a.Run.ID+1)
					return err == nil && len(all) == 1 && !isOpen(all[0])
				})
				if err := h.engine.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				s.loops.Store(0)
				h.start()
			}
			if l := h.await(a); l.Stop != sdk.StopAnswer {
				t.Errorf("the loop ended with %+v", l)
			}
			if call := h.actions(a.Run.ID)[0]; call.State != sdk.StateResolved || call.Body != "the answer" {
				t.Errorf("the call is %s: %s", call.State, call.Body)
			}
			h.check(a.Run.ID, h.childrenIn(a.Run.ID)[0].ID)
		})
	}
}

// TestDeadlineOfAParent: the time of a prompt is that of its children too.
func TestDeadlineOfAParent(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := delegatingHouse(t, map[string][]step{"do it": {calls(giving("worker", "below"))}, "below": {hanging(begun)}})
	lead := h.agents["lead"]
	lead.Guards.Deadline = sdk.Duration(300 * time.Millisecond)
	h.agents["lead"] = lead
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	if l := h.await(a); l.Stop != "deadline" {
		t.Errorf("the parent ended with %s: %s", l.Stop, l.Reason)
	}
	for _, child := range h.childrenIn(a.Run.ID) {
		if l := h.promptOf(child.ID); l.Status != sdk.StatusAborted {
			t.Errorf("the child ended with %+v", l)
		}
		h.check(child.ID)
	}
	h.check(a.Run.ID)
}
