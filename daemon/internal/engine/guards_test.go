package engine

import (
	"strings"
	"testing"
)

func TestRepeatedCalls(t *testing.T) {
	same := call{"read", `{"path":"a","limit":1}`}
	reordered := call{"read", `{ "limit" : 1, "path": "a" }`}
	other := call{"read", `{"path":"b"}`}
	for _, c := range []struct {
		name  string
		steps []step
		stop  string
		ran   int
		want  string
	}{
		{"B1 twice in a row", []step{calls(same), calls(same), say("never")}, "repeated_calls", 1, "read:resolved read:cancelled:aborted"},
		{"the order of keys does not matter", []step{calls(same), calls(reordered)}, "repeated_calls", 1, "read:resolved read:cancelled:aborted"},
		{"twice in one answer", []step{calls(same, same, other)}, "repeated_calls", 1, "read:resolved read:cancelled:aborted read:failed:aborted"},
		{"another in between", []step{calls(same), calls(other), calls(same), calls(other)}, "answer", 4, "read:resolved read:resolved read:resolved read:resolved"},
		{"another tool", []step{calls(same), calls(call{"read_bad", same.arguments}), calls(same)}, "answer", 3, "read:resolved read_bad:failed:exit:1 read:resolved"},
		{"invalid arguments, twice", []step{calls(call{"read", `{"a`}), calls(call{"read", `{"a`})}, "repeated_calls", 0, "read:failed:validation read:cancelled:aborted"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, c.steps...)
			a := h.submit(Submission{})
			l := h.await(a)
			if l.Stop != c.stop || c.stop == "repeated_calls" && l.Status != 499 {
				t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
			}
			if n := len(h.tools.calledTools()); n != c.ran {
				t.Errorf("%d calls were made, want %d", n, c.ran)
			}
			if got := h.outcomes(a.Run.ID); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			h.check(a.Run.ID)
		})
	}
}

func TestConsecutiveErrors(t *testing.T) { // B5
	bad := func(n int) step { return calls(numbered("read_bad", n)) }
	good := func(n int) step { return calls(numbered("read", n)) }
	for _, c := range []struct {
		name  string
		steps []step
		stop  string
	}{
		{"fail fail ok fail fail", []step{bad(1), bad(2), good(3), bad(4), bad(5)}, "answer"},
		{"three in a row", []step{bad(1), bad(2), bad(3), say("never")}, "consecutive_errors"},
		{"three in one answer", []step{calls(numbered("read_bad", 1), numbered("read_bad", 2), numbered("read_bad", 3))}, "consecutive_errors"},
		{"given up calls count neither way", []step{bad(1), calls(numbered("write_bad", 2), numbered("write", 3)), good(4), bad(5)}, "answer"},
		{"fault 25: bad arguments three times", []step{calls(call{"read", "["}), calls(call{"read", "{"}), calls(call{"read", "]"})}, "consecutive_errors"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, c.steps...)
			a := h.submit(Submission{})
			if l := h.await(a); l.Stop != c.stop {
				t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
			}
			h.check(a.Run.ID)
		})
	}
}

func TestMaxTurns(t *testing.T) {
	var steps []step
	for i := range 10 {
		steps = append(steps, calls(numbered("read", i)))
	}
	h := newHouse(t, steps...)
	a := h.submit(Submission{Agent: "short"})
	l := h.await(a)
	if l.Status != 499 || l.Stop != "max_turns" || !strings.Contains(l.Reason, "3 turns") {
		t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
	}
	if n := len(h.models.asked()); n != 3 {
		t.Errorf("%d turns", n)
	}
	r, err := h.store.Run(t.Context(), a.Run.ID)
	if err != nil || r.Status != 499 {
		t.Errorf("run %+v, %v", r, err)
	}
	h.check(a.Run.ID)
}

func TestGuardsThatAreOff(t *testing.T) {
	var steps []step
	for range 20 {
		steps = append(steps, calls(call{"read_bad", "{}"}))
	}
	h := newHouse(t, steps...)
	if l := h.run(Submission{Agent: "free"}); l.Stop != "answer" {
		t.Errorf("ended %q: %s", l.Stop, l.Reason)
	}
}

func TestAnAnswerGoesBeforeAGuard(t *testing.T) {
	h := newHouse(t, calls(numbered("read", 1)), calls(numbered("read", 2)), say("done"))
	if l := h.run(Submission{Agent: "short"}); l.Stop != "answer" {
		t.Errorf("ended %q: %s", l.Stop, l.Reason)
	}
}

func TestStreaksEndWithTheLoop(t *testing.T) {
	same := call{"read_bad", "{}"}
	h := newHouse(t, calls(same), say("one"), calls(same), say("two"))
	h.run(Submission{Run: "r"})
	if l := h.run(Submission{Run: "r"}); l.Stop != "answer" {
		t.Errorf("ended %q: %s", l.Stop, l.Reason)
	}
	h.untilIdle() // a loop is forgotten after its end is recorded
	if n := h.engine.guards.Watched(); n != 0 {
		t.Errorf("%d loops are remembered", n)
	}
}
