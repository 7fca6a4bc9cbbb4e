package engine

import (
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// child makes a run that another one delegated work to.
func (h *house) child(parent sdk.Run, alias string) sdk.Run {
	h.t.Helper()
	r, err := h.store.CreateRun(h.t.Context(), sdk.Run{Project: parent.Project, Alias: alias, Delegator: parent.ID, DelegatedBy: "log://turn_1/delegate/call"})
	if err != nil {
		h.t.Fatal(err)
	}
	return r
}

func TestDeleteTakesChildren(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, say("one"), say("two"), hanging(begun), say("three"))
	x := listen(h)
	parent := h.submit(Submission{Run: "parent"})
	h.await(parent)
	child := h.child(parent.Run, "child")
	below := h.child(child, "below")
	h.run(Submission{Run: "child"})
	fork, err := h.engine.Fork(t.Context(), Fork{Run: child.ID, Alias: "fork"})
	if err != nil || fork.Delegator != 0 {
		t.Fatalf("%+v, %v", fork, err)
	}
	busy := h.submit(Submission{Run: "below"})
	<-begun
	wants(t, h.engine.Delete(t.Context(), parent.Run.ID), sdk.Conflict, "the run below cannot be deleted")
	if got := x.take(); got != "" {
		t.Errorf("heard %q of a deletion that was refused", got)
	}
	if err := h.engine.Abort(t.Context(), busy.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.await(busy)
	h.child(parent.Run, "second")
	if err := h.engine.Delete(t.Context(), parent.Run.ID); err != nil {
		t.Fatal(err)
	}
	if got := x.take(); got != "deleted second, deleted below, deleted child, deleted parent" {
		t.Errorf("heard %q", got)
	}
	for _, id := range []int64{parent.Run.ID, child.ID, below.ID} {
		_, err := h.store.Run(t.Context(), id)
		wants(t, err, sdk.NotFound, "")
	}
	if len(h.entries(fork.ID, "")) == 0 {
		t.Error("the fork of a child has lost what it sees")
	}
	if err := h.store.Verify(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

// A child expires with its parent, and not before it.
func TestChildrenExpireWithTheirParent(t *testing.T) {
	started := make(chan struct{}, 1)
	h, move := aged(t, say("one"), say("two"), hanging(started))
	x := listen(h)
	pass := func(want string) {
		t.Helper()
		if err := h.engine.Expire(t.Context(), week); err != nil {
			t.Error(err)
		}
		if got := x.take(); got != want {
			t.Errorf("heard %q, want %q", got, want)
		}
	}
	parent := h.submit(Submission{Run: "parent"})
	h.await(parent)
	h.child(parent.Run, "child")
	h.run(Submission{Run: "child"})
	begun := h.submit(Submission{Run: "parent"})
	<-started
	move(40 * day)
	pass("") // the parent is at work
	if err := h.engine.Abort(t.Context(), begun.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.await(begun)
	move(8 * day)
	pass("expired child, expired parent")
	move(40 * day)
	pass("deleted child, deleted parent")
}

// What takes changes back holds the children too: one at work on a prompt of its own could change the files meanwhile.
func TestStillWithChildren(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, say("one"), hanging(begun))
	parent := h.submit(Submission{Run: "parent"})
	h.await(parent)
	below := h.child(h.child(parent.Run, "child"), "below")
	held := func(run int64) error {
		return h.engine.StillWithChildren(t.Context(), run, "taken back", func(r sdk.Run, event sdk.RunEvent) error {
			if r.ID != run || event.Run.ID != run {
				t.Errorf("it is done to %+v, %+v", r, event)
			}
			b, giveBack := h.engine.book(below.ID)
			defer giveBack()
			if b.submit.TryLock() {
				t.Error("a prompt of a child would begin meanwhile")
			}
			return nil
		})
	}
	busy := h.submit(Submission{Run: "below"})
	<-begun
	wants(t, held(parent.Run.ID), sdk.Conflict, "the run below cannot be taken back: it is at work")
	if err := h.engine.Abort(t.Context(), busy.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.await(busy)
	for _, run := range []int64{parent.Run.ID, below.ID} {
		if err := held(run); err != nil {
			t.Error(err)
		}
	}
}
