package engine

import (
	"context"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestGivenAgain: a prompt that is submitted again under its key is the same loop, in
// this daemon and in the next, whether it still waits or has ended.
func TestGivenAgain(t *testing.T) {
	h := newHouse(t, say("done"), say("done"), say("done"))
	s := Submission{Prompt: "do it once", Key: "k1"}
	first := h.submit(s)
	h.await(first)
	again := func(when string) {
		t.Helper()
		a := h.submit(s)
		if a.Loop.ID != first.Loop.ID || a.Run.ID != first.Run.ID || a.Seq != first.Seq || a.Model != first.Model || a.Mode != first.Mode || a.Ahead != 0 {
			t.Errorf("%s: %+v is not\n%+v", when, a, first)
		}
	}
	again("in the same daemon")
	h.cut()
	h.start()
	again("in the next daemon")
	if a := h.submit(Submission{Prompt: "do it once", Key: "k2"}); a.Loop.ID == first.Loop.ID || a.Run.ID == first.Run.ID {
		t.Errorf("another key is another prompt: %+v", a)
	}
	if a := h.submit(Submission{Prompt: "do it once"}); a.Loop.ID == first.Loop.ID {
		t.Errorf("no key is another prompt: %+v", a)
	}
	h.untilIdle()
}

// TestGivenAtOnce: of submissions at the same time one makes the run and the loop.
func TestGivenAtOnce(t *testing.T) {
	h := newHouse(t, say("done"))
	var all sync.WaitGroup
	got := make([]Accepted, 8)
	for i := range got {
		all.Go(func() {
			var err error
			if got[i], err = h.engine.Submit(context.Background(), Submission{Project: h.project, Prompt: "p", Key: "k"}); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	for _, a := range got {
		if a.Loop.ID != got[0].Loop.ID || a.Run.ID != got[0].Run.ID || a.Seq != got[0].Seq {
			t.Errorf("%+v is not\n%+v", a, got[0])
		}
	}
	h.untilIdle()
}

func TestGivenOtherwise(t *testing.T) {
	h := newHouse(t, say("done"))
	h.run(Submission{Prompt: "p", Key: "k", Run: "r"})
	for name, c := range map[string]struct {
		s    Submission
		want sdk.Outcome
		says string
	}{
		"another prompt": {Submission{Prompt: "q", Key: "k", Run: "r"}, sdk.Conflict, "another prompt was given under the key k"},
		"another run":    {Submission{Prompt: "p", Key: "k", Run: "other"}, sdk.Conflict, "another prompt"},
		"only to read":   {Submission{Prompt: "p", Key: "k", Run: "r", ReadOnly: true}, sdk.Conflict, "another prompt"},
		"no key":         {Submission{Prompt: "p", Key: "a key", Run: "r"}, sdk.Validation, "the key of a prompt"},
	} {
		t.Run(name, func(t *testing.T) {
			c.s.Project = h.project
			_, err := h.engine.Submit(t.Context(), c.s)
			wants(t, err, c.want, c.says)
		})
	}
}
