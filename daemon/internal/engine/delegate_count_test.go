package engine

import (
	"context"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// lateStore is a store from which one run cannot be taken up for a while.
type lateStore struct {
	*watchedStore
	run   int64
	until chan struct{}
}

func (s *lateStore) Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error) {
	if s.run != 0 && q.Run == s.run && q.Pattern == "" {
		<-s.until
	}
	return s.watchedStore.Entries(ctx, q)
}

// TestMaxChildrenAfterARestart: a daemon that takes a prompt up counts what was delegated for it before anything of it
// goes on, calls that were recorded and not begun included.
func TestMaxChildrenAfterARestart(t *testing.T) {
	for name, c := range map[string]struct {
		most  int
		steps func(hangs step) map[string][]step
		late  string // the prompt of a child that goes on only when the one of "below" has ended
		calls string // of the child with the prompt "below"
	}{
		"recorded and not begun": {5, func(hangs step) map[string][]step {
			return map[string][]step{
				"do it": {calls(giving("lead", "below"), giving("worker", "1"), giving("worker", "2"), giving("worker", "3"), giving("worker", "4"))},
				"below": {hangs, calls(giving("worker", "too many"))},
			}
		}, "", "delegate:cancelled:aborted"},
		"by turns before": {4, func(hangs step) map[string][]step {
			return map[string][]step{
				"do it": {calls(giving("worker", "first")), calls(giving("lead", "below"), giving("worker", "1"), giving("worker", "2"))},
				"below": {hangs, calls(giving("worker", "too many"))},
			}
		}, "", "delegate:cancelled:aborted"},
		"by a child beside it": {5, func(hangs step) map[string][]step {
			return map[string][]step{
				"do it":  {calls(giving("lead", "beside"), giving("lead", "below"))},
				"beside": {calls(giving("worker", "1"), giving("worker", "2"))},
				"1":      {hangs}, "2": {hangs},
				"below": {hangs, calls(giving("worker", "3"), giving("worker", "too many"))},
			}
		}, "beside", "delegate:resolved delegate:cancelled:aborted"},
	} {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{}, 3)
			steps := c.steps(hanging(begun))
			h := delegatingHouse(t, steps)
			lead := h.agents["lead"]
			lead.Guards.MaxChildren = c.most
			h.agents["lead"] = lead
			h.start()
			a := h.submit(Submission{Agent: "lead"})
			hang := 1
			if c.late != "" {
				hang = 3
			}
			for range hang {
				<-begun
			}
			h.cut()
			of := map[string]sdk.Run{}
			for _, child := range h.childrenIn(a.Run.ID) {
				of[h.promptOf(child.ID).Prompt] = child
			}
			s := &lateStore{watchedStore: h.store, run: of[c.late].ID, until: make(chan struct{})}
			h.config.Store = s
			h.start()
			h.until("the child has ended", func() bool { return !isOpen(h.promptOf(of["below"].ID)) })
			close(s.until)
			h.await(a)
			if got := h.outcomes(of["below"].ID); got != c.calls {
				t.Errorf("the calls of the child came to %s, want %s", got, c.calls)
			}
			all, err := h.store.Runs(t.Context(), sdk.RunFilter{Hidden: true, Children: true})
			if err != nil || len(all) > 1+c.most {
				t.Errorf("%d runs were made, %v", len(all), err)
			}
			h.check(a.Run.ID, of["below"].ID)
		})
	}
}
