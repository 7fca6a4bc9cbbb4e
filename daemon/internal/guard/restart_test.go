package guard

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
	if r := p.turn(t, "B!"); r.Stop != consecutiveErrors {
		t.Fatalf("%+v", r)
	}
	again = newPanel(t, rules, p.turns...)
	ruled, err = again.hooks.TurnVerdict.Apply(t.Context(), p.turns[1])
	if err != nil || ruled.Ruling.Stop != consecutiveErrors {
		t.Errorf("%+v, %v", ruled.Ruling, err)
	}
}

// TestDeadlineCountsEarlierDaemons: what the turns before a restart took is
// taken from what is left, and time that nobody worked is not.
func TestDeadlineCountsEarlierDaemons(t *testing.T) {
	rules := sdk.Guards{Deadline: sdk.Duration(10 * time.Minute)}
	past := []sdk.TurnResult{{Turn: 1, Duration: sdk.Duration(4 * time.Minute)}, {Turn: 2, Duration: sdk.Duration(3 * time.Minute)}, {Turn: 3, Duration: -5}}
	p := newPanel(t, rules, past...)
	d := p.guards.loops[panelLoop].rules[Deadline].(*deadline)
	if d.left() != 3*time.Minute {
		t.Fatalf("%s are left", d.left())
	}
	p.now = 3*time.Minute - 1
	if r := p.turn(t, "A"); !r.Continue {
		t.Errorf("too early: %+v", r)
	}
	p.now = 3 * time.Minute
	if r := p.turn(t, "B"); r.Stop != Deadline || !strings.Contains(r.Reason, "10m0s") {
		t.Errorf("%+v", r)
	}
	ctx, cancel := p.guards.Within(t.Context(), panelLoop)
	defer cancel()
	<-ctx.Done()
	var late *Late
	if !errors.As(context.Cause(ctx), &late) {
		t.Errorf("the context ended with %v", context.Cause(ctx))
	}
}
