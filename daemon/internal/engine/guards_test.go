package engine

import (
	"strings"
	"testing"
)

func TestRepeatedCalls(t *testing.T) {
	same := call{"read", `{"path":"a","limit":1}`}
	reordered := call{"read", `{ "limit" : 1, "path": "a" }`}
	other := call{"read", `{"path":"b"}`}
	bad, done := numbered("write_bad", 1), call{"finish", "{}"}
	for _, c := range []struct {
		name  string
		steps []step
		stop  string
		ran   int
		want  string
	}{
		{"B1 three times in a row", []step{calls(same), calls(same), calls(same), say("never")}, "repeated_calls", 1, "read:resolved read:resolved read:cancelled:aborted"},
		{"twice", []step{calls(same), calls(same), say("done")}, "answer", 1, "read:resolved read:resolved"},
		{"the order of keys does not matter", []step{calls(same), calls(reordered), calls(same)}, "repeated_calls", 1, "read:resolved read:resolved read:cancelled:aborted"},
		{"twice in one answer", []step{calls(same, same, other)}, "answer", 2, "read:resolved read:resolved read:resolved"},
		{"three times in one answer", []step{calls(same, same, same, other)}, "repeated_calls", 1, "read:resolved read:resolved read:cancelled:aborted read:failed:aborted"},
		{"a side effect that failed, twice in one answer", []step{calls(bad, bad, other)}, "answer", 1, "write_bad:failed:timeout write_bad:failed:aborted read:failed:aborted"},
		{"a side effect that failed, again", []step{calls(bad), calls(bad, other)}, "answer", 1, "write_bad:failed:timeout write_bad:failed:timeout read:failed:aborted"},
		{"an end that was not accepted", []step{calls(call{"read_bad", "{}"}, done), calls(done)}, "terminal", 2, "read_bad:failed:timeout finish:failed:conflict finish:resolved"},
		{"another in between", []step{calls(same), calls(other), calls(same), calls(other)}, "answer", 4, "read:resolved read:resolved read:resolved read:resolved"},
		{"another tool", []step{calls(same), calls(call{"read_bad", same.arguments}), calls(same)}, "answer", 3, "read:resolved read_bad:failed:timeout read:resolved"},
		{"invalid arguments", []step{calls(call{"read", `{"a`}), calls(call{"read", `{"a`}), calls(call{"read", `{"a`})}, "repeated_calls", 0, "read:failed:validation read:failed:validation read:cancelled:aborted"},
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
		{"three in one answer", []step{calls(numbered("read_bad", 1), numbered("read_bad", 2), numbered("read_bad", 3))}, "answer"},
		{"three commands without a match", []step{calls(numbered("grep", 1)), calls(numbered("grep", 2)), calls(numbered("grep", 3))}, "answer"},
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

// TestAnsweredWithTheFirst: the model reads what the call before came to and that this
// one was not made, and whoever looks finds which call that was.
func TestAnsweredWithTheFirst(t *testing.T) {
	for _, tool := range []string{"read", "grep"} {
		same := call{tool, `{"path":"a"}`}
		h := newHouse(t, calls(same), calls(same), say("done"))
		a := h.submit(Submission{})
		h.await(a)
		all := h.actions(a.Run.ID)
		first, second := all[0], all[1]
		if second.Body != first.Body+"\n\n"+repeatNote || second.State != first.State || second.Outcome != first.Outcome {
			t.Errorf("%s: the second came to %s %s %q, the first to %s %s %q", tool, second.State, second.Outcome, second.Body, first.State, first.Outcome, first.Body)
		}
		if got := attributes(t, second).Repeats; got != first.Path {
			t.Errorf("%s: it repeats %q", tool, got)
		}
		h.check(a.Run.ID)
	}
}
