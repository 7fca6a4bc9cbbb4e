package engine

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// TestCountsSurviveARestart: wherever a daemon dies between two turns, or with
// the last turn ruled and not yet recorded so, the next one rules as the first
// would have.
func TestCountsSurviveARestart(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rules := sdk.Guards{
			MaxTurns: rapid.IntRange(0, 9).Draw(rt, "turns"), RepeatedCalls: rapid.SampledFrom([]int{0, 2, 3}).Draw(rt, "repeated"),
			WindowCalls: rapid.IntRange(0, 3).Draw(rt, "window"), WindowSize: rapid.IntRange(3, 6).Draw(rt, "size"),
			ConsecutiveErrors: rapid.IntRange(0, 4).Draw(rt, "errors"), MaxStrikes: rapid.IntRange(0, 3).Draw(rt, "strikes"),
			MinCycles: rapid.SampledFrom([]int{0, 2, 3}).Draw(rt, "cycles"), MaxCyclePeriod: rapid.IntRange(1, 4).Draw(rt, "period"),
		}
		live, restarted := newPanel(t, rules), newPanel(t, rules)
		for _, words := range rapid.SliceOfN(panelTurn, 1, 12).Draw(rt, "script") {
			want := live.turn(t, words)
			var got sdk.Ruling
			switch rapid.IntRange(0, 2).Draw(rt, "dies") {
			case 0:
				got = restarted.turn(t, words)
			case 1: // before the turn
				restarted = newPanel(t, rules, restarted.turns...)
				got = restarted.turn(t, words)
			case 2: // behind it: the turn is judged again, without its calls being recorded again
				restarted.turn(t, words)
				last := restarted.turns[len(restarted.turns)-1]
				restarted = newPanel(t, rules, restarted.turns[:len(restarted.turns)-1]...)
				restarted.turns = append(restarted.turns, last)
				ruled, err := restarted.hooks.TurnVerdict.Apply(t.Context(), last)
				if err != nil {
					rt.Fatal(err)
				}
				got = ruled.Ruling
			}
			if got != want {
				rt.Fatalf("after %d turns: %+v, without a restart %+v", len(live.turns), got, want)
			}
			if !want.Continue {
				return
			}
		}
	})
}

// TestJudgedTwice: the turn that a daemon had ruled on when it died may be
// among the past and be judged again; it counts once and rules the same.
func TestJudgedTwice(t *testing.T) {
	rules := sdk.Guards{RepeatedCalls: 2, ConsecutiveErrors: 2, MaxStrikes: 2}
	p := newPanel(t, rules)
	p.turn(t, "A!")
	again := newPanel(t, rules, p.turns...)
	ruled, err := again.hooks.TurnVerdict.Apply(t.Context(), p.turns[0])
	if err != nil || !ruled.Ruling.Continue {
		t.Errorf("%+v, %v", ruled.Ruling, err)
	}
	if r := p.turn(t, "B!"); r.Stop != guardConsecutiveErrors {
		t.Fatalf("%+v", r)
	}
	again = newPanel(t, rules, p.turns...)
	ruled, err = again.hooks.TurnVerdict.Apply(t.Context(), p.turns[1])
	if err != nil || ruled.Ruling.Stop != guardConsecutiveErrors {
		t.Errorf("%+v, %v", ruled.Ruling, err)
	}
}

// TestDeadlineCountsEarlierDaemons: what the turns before a restart took is
// taken from what is left, and time that nobody worked is not.
func TestDeadlineCountsEarlierDaemons(t *testing.T) {
	rules := sdk.Guards{Deadline: sdk.Duration(10 * time.Minute)}
	past := []sdk.TurnResult{{Turn: 1, Duration: sdk.Duration(4 * time.Minute)}, {Turn: 2, Duration: sdk.Duration(3 * time.Minute)}, {Turn: 3, Duration: -5}}
	p := newPanel(t, rules, past...)
	d := p.guards.loops[panelLoop].rules[guardDeadline].(*deadline)
	if d.left() != 3*time.Minute {
		t.Fatalf("%s are left", d.left())
	}
	p.now = 3*time.Minute - 1
	if r := p.turn(t, "A"); !r.Continue {
		t.Errorf("too early: %+v", r)
	}
	p.now = 3 * time.Minute
	if r := p.turn(t, "B"); r.Stop != guardDeadline || !strings.Contains(r.Reason, "10m0s") {
		t.Errorf("%+v", r)
	}
	ctx, cancel := p.guards.within(t.Context(), panelLoop)
	defer cancel()
	<-ctx.Done()
	var late *lateError
	if !errors.As(context.Cause(ctx), &late) {
		t.Errorf("the context ended with %v", context.Cause(ctx))
	}
}

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
		"repeated_calls":     {sdk.Guards{RepeatedCalls: 2}, []step{read(1)}, []step{read(1), read(2)}, "repeated_calls", 2},
		"repeated, null":     {sdk.Guards{RepeatedCalls: 2}, []step{nulls(`{"path":"a","limit":null}`)}, []step{nulls(`{"limit":null,"path":"a"}`)}, "repeated_calls", 2},
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
			h.config.Agents["it"] = sdk.Agent{Guards: c.rules}
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
	h.config.Agents["it"] = sdk.Agent{Guards: sdk.Guards{RepeatedCalls: 2, ConsecutiveErrors: 1, MaxStrikes: 1}}
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
	h.config.Agents["it"] = sdk.Agent{}
	h.start()
	a := h.submit(Submission{Agent: "it"})
	<-begun
	h.cut()
	h.config.Agents["it"] = sdk.Agent{Guards: sdk.Guards{Deadline: sdk.Duration(limit)}}
	h.start()
	if l := h.await(a); l.Stop != "deadline" || l.Status != 499 {
		t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
	}
	if n := len(h.models.asked()); n != 2 {
		t.Errorf("the model was asked %d times", n)
	}
	h.check(a.Run.ID)
}
