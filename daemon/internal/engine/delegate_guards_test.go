package engine

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// playsAlways has the model answer each request by itself.
func (h *house) playsAlways(play func(req sdk.Request) step) { h.models.each = play }

// TestDelegatesToItself: a model that does nothing but delegate, to itself, comes to an end: at the depth that there may
// be, and then at the limit of its prompt.
func TestDelegatesToItself(t *testing.T) {
	h := delegatingHouse(t, nil)
	n := 0
	h.playsAlways(func(sdk.Request) step { n++; return calls(giving("lead", fmt.Sprintf("task %d", n))) })
	lead := h.agents["lead"]
	lead.Guards.MaxChildren = 16
	h.agents["lead"] = lead
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	l := h.await(a)
	if sdk.StopExit(l.Stop, l.Status) != sdk.ExitStopped || l.Reason == "" {
		t.Errorf("the loop ended with %+v", l)
	}
	runs, err := h.store.Runs(t.Context(), sdk.RunFilter{Hidden: true, Children: true})
	if err != nil || len(runs) > 17 {
		t.Errorf("%d runs were made, %v", len(runs), err)
	}
	for _, r := range runs {
		if l := h.promptOf(r.ID); sdk.StopExit(l.Stop, l.Status) != sdk.ExitStopped || optionsOf(l).Below > 2 {
			t.Errorf("the prompt of %s is %d below and ended with %s: %s", r.Alias, optionsOf(l).Below, l.Stop, l.Reason)
		}
		h.check(r.ID)
	}
}

// TestMaxChildren: the call that is one too many is not made, and ends its loop; what children delegate counts.
func TestMaxChildren(t *testing.T) {
	for name, c := range map[string]struct {
		steps map[string][]step
		stop  string
		calls string
	}{
		"of one answer": {map[string][]step{"do it": {calls(giving("worker", "1"), giving("worker", "2"), giving("worker", "3"), giving("worker", "4"))}},
			"max_children", "delegate:resolved delegate:resolved delegate:resolved delegate:cancelled:aborted"},
		"one after the other": {map[string][]step{"do it": {calls(giving("worker", "1")), calls(giving("worker", "2")), calls(giving("worker", "3")), calls(giving("worker", "4"))}},
			"max_children", "delegate:resolved delegate:resolved delegate:resolved delegate:cancelled:aborted"},
		"of a child": {map[string][]step{"do it": {calls(giving("lead", "below")), calls(giving("worker", "3"))}, "below": {calls(giving("worker", "1"), giving("worker", "2"), giving("worker", "4"))}},
			"max_children", "delegate:failed:unfinished delegate:cancelled:aborted"},
		"refused ones count as none": {map[string][]step{"do it": {calls(giving("gone", "0")), calls(giving("worker", "1")), calls(giving("worker", "2")), calls(giving("worker", "3"))}},
			"answer", "delegate:failed:not_found delegate:resolved delegate:resolved delegate:resolved"},
	} {
		t.Run(name, func(t *testing.T) {
			h := delegatingHouse(t, c.steps)
			lead := h.agents["lead"]
			lead.Guards.MaxChildren = 3
			h.agents["lead"] = lead
			h.start()
			a := h.submit(Submission{Agent: "lead"})
			if l := h.await(a); l.Stop != c.stop {
				t.Errorf("the loop ended with %s: %s", l.Stop, l.Reason)
			}
			if got := h.outcomes(a.Run.ID); got != c.calls {
				t.Errorf("got  %s\nwant %s", got, c.calls)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestCostOfChildren: what children cost counts with the prompt that delegated to them, wherever a daemon ended, and a
// request of one that the prompt cannot pay is not sent.
func TestCostOfChildren(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		t.Run(fmt.Sprint("restarts ", restarts), func(t *testing.T) {
			begun := make(chan struct{}, 1)
			second := []step{costing(0.1, numbered("read", 3)), say("two")}
			if restarts {
				second = append([]step{hanging(begun)}, second...)
			}
			h := delegatingHouse(t, map[string][]step{
				"do it": {costing(0.1, giving("worker", "one")), costing(0.1, giving("worker", "two")), costing(0.1, giving("worker", "three"))},
				"one":   {costing(0.3, numbered("read", 1)), costing(0.2, numbered("read", 2)), say("one")}, "two": second,
				"three": {costing(0.3, numbered("read", 4)), costing(0.3, numbered("read", 5)), say("three")},
			})
			lead := h.agents["lead"]
			lead.Guards.MaxCost = 1.15
			h.agents["lead"] = lead
			h.start()
			a := h.submit(Submission{Agent: "lead"})
			if restarts {
				<-begun
				h.cut()
				h.start()
			}
			l := h.await(a)
			if l.Stop != "max_cost" || !strings.Contains(l.Reason, "has cost 1.2 ") {
				t.Errorf("the loop ended with %s: %s", l.Stop, l.Reason)
			}
			if got, want := h.outcomes(a.Run.ID), "delegate:resolved delegate:resolved delegate:failed:unfinished"; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if last := h.promptOf(h.childrenIn(a.Run.ID)[2].ID); last.Stop != "max_cost" {
				t.Errorf("the last child ended with %s: %s", last.Stop, last.Reason)
			}
		})
	}
}

// TestReservationsOfChildren: children side by side reserve of one account: of two whose requests may cost more together
// than is left, the second waits for what the first really cost.
func TestReservationsOfChildren(t *testing.T) {
	begun, goOn := make(chan struct{}, 2), make(chan struct{})
	waits := func(ctx context.Context, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
		begun <- struct{}{}
		<-goOn
		return say("done")(ctx, req, send, retry)
	}
	h := delegatingHouse(t, map[string][]step{"do it": {calls(giving("worker", "one"), giving("worker", "two"))}, "one": {waits}, "two": {waits}})
	h.models.price = &sdk.Price{Completion: 100} // 0.4096 are reserved
	lead := h.agents["lead"]
	lead.Guards.MaxCost = 0.6
	h.agents["lead"] = lead
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	<-begun
	h.until("both children have a turn", func() bool {
		for _, child := range h.childrenIn(a.Run.ID) {
			if child.Turns == 0 {
				return false
			}
		}
		return true
	})
	if n := len(h.models.asked()); n != 2 {
		t.Errorf("%d requests were sent", n)
	}
	close(goOn)
	if l := h.await(a); l.Stop != sdk.StopAnswer {
		t.Errorf("the loop ended with %s: %s", l.Stop, l.Reason)
	}
	if got := h.outcomes(a.Run.ID); got != "delegate:resolved delegate:resolved" {
		t.Errorf("got %s", got)
	}
}
