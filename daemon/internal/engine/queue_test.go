package engine

import (
	"context"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// behindOne is a house whose run works on a first prompt until it is aborted, with two
// behind it.
func behindOne(t *testing.T, steps ...step) (h *house, first, second, third Accepted) {
	t.Helper()
	begun := make(chan struct{}, 1)
	h = newHouse(t, append([]step{hanging(begun)}, steps...)...)
	first = h.submit(Submission{Run: "r", Prompt: "first"})
	<-begun
	second = h.submit(Submission{Run: "r", Prompt: "second", Mode: sdk.ModeInteractive})
	third = h.submit(Submission{Run: "r", Prompt: "third"})
	return h, first, second, third
}

func (h *house) status(a Accepted) int {
	h.t.Helper()
	loops, err := h.store.Loops(context.Background(), a.Run.ID)
	if err != nil {
		h.t.Fatal(err)
	}
	return loops[a.Loop.Sequence-1].Status
}

// TestTakingAPromptBack: one that waits never runs and no model reads it; of one that
// has begun the answer says how it is.
func TestTakingAPromptBack(t *testing.T) {
	h, first, second, third := behindOne(t, say("done"))
	ctx := t.Context()
	got, err := h.engine.TakeBack(ctx, first.Run.ID, 2)
	if err != nil || !got.Taken || got.Prompt != "second" || got.Status != sdk.StatusAborted || got.Loop != second.Loop.ID || got.Mode != sdk.ModeInteractive {
		t.Errorf("%+v %v", got, err)
	}
	if got, err = h.engine.TakeBack(ctx, first.Run.ID, 2); err != nil || got.Taken || got.Prompt != "second" {
		t.Errorf("a second time: %+v %v", got, err)
	}
	if got, err = h.engine.TakeBack(ctx, first.Run.ID, 1); err != nil || got.Taken || got.Status != sdk.StatusRunning || got.Prompt != "first" {
		t.Errorf("at work: %+v %v", got, err)
	}
	if _, err = h.engine.TakeBack(ctx, first.Run.ID, 4); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("none: %v", err)
	}
	if err := h.engine.Abort(ctx, first.Run.ID); err != nil {
		t.Fatal(err)
	}
	if end := h.await(third); end.Status != sdk.StatusOK {
		t.Errorf("the third ended with %+v", end)
	}
	for _, m := range h.models.asked()[1].Messages {
		if strings.Contains(m.Text, "second") {
			t.Errorf("the model read %q", m.Text)
		}
	}
	if end := h.await(second); end.Stop != sdk.StopTaken || end.Reason == "" {
		t.Errorf("the second ended with %+v", end)
	}
	h.check(first.Run.ID)
}

// TestAPromptTakenBackIsNotResumed: what is resumed is what was worked on.
func TestAPromptTakenBackIsNotResumed(t *testing.T) {
	h, first, _, _ := behindOne(t, say("resumed"))
	if n, err := h.engine.AbortHeld(t.Context(), first.Run.ID); n != 2 || err != nil {
		t.Fatalf("%d held: %v", n, err)
	}
	for prompt := range 2 {
		if _, err := h.engine.TakeBack(t.Context(), first.Run.ID, prompt+2); err != nil {
			t.Fatal(err)
		}
	}
	a, err := h.engine.Resume(t.Context(), first.Run.ID) // the hold has ended with the last one
	if err != nil {
		t.Fatal(err)
	}
	if end := h.await(a); end.Status != sdk.StatusOK {
		t.Errorf("it ended with %+v", end)
	}
	if o := optionsOf(a.Loop); o.Resumes != first.Loop.ID {
		t.Errorf("it resumes %d, want %d", o.Resumes, first.Loop.ID)
	}
}

// TestAbortThatHolds: through a restart, and prompts that come later wait behind.
func TestAbortThatHolds(t *testing.T) {
	h, first, second, third := behindOne(t, say("two"), say("three"), say("four"))
	if n, err := h.engine.AbortHeld(t.Context(), first.Run.ID); n != 2 || err != nil {
		t.Fatalf("%d held: %v", n, err)
	}
	if end := h.await(first); end.Stop != sdk.StopAborted {
		t.Errorf("the first ended with %+v", end)
	}
	late := h.submit(Submission{Run: "r", Prompt: "fourth"})
	if late.Ahead != 2 {
		t.Errorf("%d are ahead of a prompt that comes later", late.Ahead)
	}
	h.cut()
	h.start()
	if len(h.models.asked()) != 1 {
		t.Errorf("the model was asked %d times", len(h.models.asked()))
	}
	for _, a := range []Accepted{second, third, late} {
		if s := h.status(a); s != sdk.StatusQueued {
			t.Errorf("prompt %d is at %d", a.Loop.Sequence, s)
		}
	}
	if n, err := h.engine.Release(t.Context(), first.Run.ID); n != 3 || err != nil {
		t.Fatalf("%d released: %v", n, err)
	}
	for _, a := range []Accepted{second, third, late} {
		if end := h.await(a); end.Status != sdk.StatusOK {
			t.Errorf("prompt %d ended with %+v", a.Loop.Sequence, end)
		}
	}
	if _, err := h.engine.Release(t.Context(), first.Run.ID); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("nothing is held: %v", err)
	}
	h.check(first.Run.ID)
}

// TestAbortThatHasNothingToHold is a plain abort.
func TestAbortThatHasNothingToHold(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, hanging(begun), say("done"))
	a := h.submit(Submission{Run: "r"})
	<-begun
	if n, err := h.engine.AbortHeld(t.Context(), a.Run.ID); n != 0 || err != nil {
		t.Fatalf("%d held: %v", n, err)
	}
	if end := h.run(Submission{Run: "r"}); end.Status != sdk.StatusOK {
		t.Errorf("the next prompt ended with %+v", end)
	}
	made, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "rests"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := h.engine.AbortHeld(t.Context(), made.Run.ID); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("of a run that rests: %v", err)
	}
}
