package engine

import (
	"context"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// tags are the guards that dialect tags has by default.
var tags = sdk.Guards{MaxTurns: 99, MaxStrikes: 3, MinCycles: 3, MaxCyclePeriod: 4}

// TestGuardsOverARestart: with a real engine that is cut while the model is
// asked, the next one stops where the first would have.
func TestGuardsOverARestart(t *testing.T) {
	read := func(n int) step { return calls(numbered("read", n)) }
	bad := func(n int) step { return calls(numbered("read_bad", n)) }
	nulls := func(text string) step { return calls(call{"read", text}) }
	for name, c := range map[string]struct {
		rules         sdk.Guards
		before, after []step
		stop          string
		asked         int // completions that came to their end
	}{
		"max_turns":          {sdk.Guards{MaxTurns: 3}, []step{read(1), read(2)}, []step{read(3), read(4)}, "max_turns", 3},
		"repeated_calls":     {sdk.Guards{RepeatedCalls: 2}, []step{read(1), read(1)}, []step{read(1), read(2)}, "repeated_calls", 3},
		"repeated, null":     {sdk.Guards{RepeatedCalls: 2}, []step{nulls(`{"path":"a","limit":null}`)}, []step{nulls(`{"limit":null,"path":"a"}`), nulls(`{"path":"a","limit":null}`)}, "repeated_calls", 3},
		"window":             {sdk.Guards{WindowCalls: 3, WindowSize: 5}, []step{read(1), read(2), read(1)}, []step{read(3), read(1)}, "window", 5},
		"consecutive_errors": {sdk.Guards{ConsecutiveErrors: 3}, []step{bad(1), bad(2)}, []step{bad(3), read(1)}, "consecutive_errors", 3},
		"cycles":             {tags, []step{read(1), read(1), read(1)}, []step{read(1), read(1), read(1)}, "min_cycles", 5},
		"strikes":            {tags, []step{bad(1), bad(2)}, []step{bad(3)}, "max_strikes", 3},
		"max_cost":           {sdk.Guards{MaxCost: 1}, []step{costing(0.6, numbered("read", 1))}, []step{costing(0.6, numbered("read", 2)), read(3)}, "max_cost", 2},
		"nothing":            {sdk.Guards{RepeatedCalls: 2, ConsecutiveErrors: 3}, []step{read(1), bad(2), bad(3)}, []step{read(2), bad(4)}, "answer", 6},
	} {
		t.Run(name, func(t *testing.T) {
			begun := make(chan struct{}, 1)
			h := prepareHouse(t, append(append(c.before, silent(begun)), c.after...)...)
			h.agents["it"] = sdk.Agent{Guards: c.rules}
			h.start()
			a := h.submit(Submission{Agent: "it"})
			<-begun
			h.cut()
			h.start()
			l := h.await(a)
			if n := len(h.models.asked()) - 1; l.Stop != c.stop || n != c.asked {
				t.Errorf("ended %q after %d completions, want %q after %d: %s", l.Stop, n, c.stop, c.asked, l.Reason)
			}
			if ends := h.ends(a.Run.ID); len(ends) != 1 {
				t.Errorf("ended %+v", ends)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestInterruptedCallsDoNotCount: a call that a daemon's death cut may be made
// again by the model, and is no error of its own.
func TestInterruptedCallsDoNotCount(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := prepareHouse(t, calls(numbered("write", 1)), calls(numbered("write", 1)), say("done"))
	h.agents["it"] = sdk.Agent{Guards: sdk.Guards{RepeatedCalls: 2, ConsecutiveErrors: 1, MaxStrikes: 1}}
	h.tools.on("write", waiting(begun))
	h.start()
	a := h.submit(Submission{Agent: "it"})
	<-begun
	h.cut()
	h.tools.on("write", nil)
	h.start()
	if l := h.await(a); l.Stop != "answer" {
		t.Errorf("ended %q: %s", l.Stop, l.Reason)
	}
	if got := h.outcomes(a.Run.ID); got != "write:failed:interrupted write:resolved" {
		t.Errorf("got %s", got)
	}
	h.check(a.Run.ID)
}

// TestDeadlineOverARestart: what the first daemon's turns took counts, and a
// loop whose time is over ends when it is taken up.
func TestDeadlineOverARestart(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := prepareHouse(t, calls(numbered("read", 1)), silent(begun), say("never"))
	const limit = 40 * time.Millisecond
	h.tools.on("read", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		time.Sleep(limit) // it is this that takes the time
		return ok("read")
	})
	h.agents["it"] = sdk.Agent{}
	h.start()
	a := h.submit(Submission{Agent: "it"})
	<-begun
	h.cut()
	h.config.Narrow = func(string) Narrowing { // a loop keeps its agent, and not what the project says
		return Narrowing{Guards: func(sdk.Guards) sdk.Guards { return sdk.Guards{Deadline: sdk.Duration(limit)} }}
	}
	h.start()
	if l := h.await(a); l.Stop != "deadline" || l.Status != 499 {
		t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
	}
	if n := len(h.models.asked()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
	h.check(a.Run.ID)
}
