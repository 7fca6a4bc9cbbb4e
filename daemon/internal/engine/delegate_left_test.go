package engine

import (
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
