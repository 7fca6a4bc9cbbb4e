package engine

import (
	"context"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/sdk"
)

// The guards, by the name that a stopped loop bears. Their order is that of
// their filters: of two that stop at once, the first is named.
const (
	guardRepeatedCalls     = "repeated_calls"
	guardWindow            = "window"
	guardConsecutiveErrors = "consecutive_errors"
	guardMaxStrikes        = "max_strikes"
	guardMinCycles         = "min_cycles" // max_strikes, when the last strike was a pattern that repeats
	guardDeadline          = "deadline"
	guardMaxCost           = "max_cost"
	guardMaxTurns          = "max_turns"
)

var guardOrder = []string{
	guardRepeatedCalls, guardWindow, guardConsecutiveErrors, guardMaxStrikes, guardDeadline, guardMaxCost, guardMaxTurns,
}

// guard is one rule of one loop. It counts turns as they end, each once, and
// depends on nothing else but time, so that the turns of a daemon that died
// can be counted again by the next one.
type guard interface {
	take(t *judged)
	// stop says why the loop must end, as a sentence for a person, and under
	// which name. An empty reason is that it may go on.
	stop() (name, reason string)
}

// screen is a guard that has to see a call before it is made. It returns the
// reason why it must not be, for the model; "" is that it may.
type screen interface {
	screen(c madeCall) string
}

// judged is a turn as the guards count it.
type judged struct {
	sdk.TurnResult
	calls []madeCall // in the model's order
}

// guards are the rules that can stop a loop. They hear what every subscriber
// hears and have no other way in: a call is seen when it is about to be
// recorded, a turn when it is judged.
type guards struct {
	prices  Prices
	clock   func() time.Duration // monotonic; what the wall clock says is for people
	mu      sync.Mutex
	loops   map[int64]*watched
	removes []func()
}

// watched is a loop with its guards. Those that are off are not there.
type watched struct {
	rules map[string]guard
	turn  int                 // the last one that was counted
	heard map[string]madeCall // by path: the calls of the turn that is recorded now
}

func newGuards(hooks *hook.Chains, prices Prices) *guards {
	began := time.Now()
	g := &guards{prices: prices, loops: map[int64]*watched{}, clock: func() time.Duration { return time.Since(began) }}
	g.removes = append(g.removes, hooks.EntryRecording.On(1, "guard "+guardRepeatedCalls, true, g.recording))
	for i, name := range guardOrder {
		g.removes = append(g.removes, hooks.TurnVerdict.On(i+1, "guard "+name, true, g.judge(name)))
	}
	return g
}

func (g *guards) leave() {
	for _, remove := range g.removes {
		remove()
	}
}

// begin watches a loop. Past are the turns that the loop had before a daemon
// took it up again, in order; empty for a loop that begins. They are counted
// and not judged: what they did was judged when they ended. Asked is what plugins
// asked of models in them, and in the one that is open.
func (g *guards) begin(loop int64, rules sdk.Guards, past []sdk.TurnResult, asked ...completionAsked) {
	w := &watched{rules: g.rules(rules), heard: map[string]madeCall{}}
	if d, ok := w.rules[guardDeadline].(*deadline); ok {
		for _, r := range past {
			d.spent += max(time.Duration(r.Duration), 0)
		}
	}
	for _, r := range past {
		w.take(r)
	}
	for _, c := range asked {
		w.spend(c)
	}
	if c, ok := w.rules[guardMaxCost].(*cost); ok {
		c.told = c.unknown
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.loops[loop] = w
}

func (g *guards) rules(r sdk.Guards) map[string]guard {
	rules := map[string]guard{}
	if r.RepeatedCalls > 0 {
		rules[guardRepeatedCalls] = &repeated{limit: r.RepeatedCalls}
	}
	if r.WindowCalls > 0 && r.WindowSize > 0 {
		rules[guardWindow] = &window{limit: r.WindowCalls, size: r.WindowSize}
	}
	if r.ConsecutiveErrors > 0 {
		rules[guardConsecutiveErrors] = &failures{limit: r.ConsecutiveErrors}
	}
	if r.MaxStrikes > 0 {
		rules[guardMaxStrikes] = &strikes{limit: r.MaxStrikes, cycles: newCycles(r.MinCycles, r.MaxCyclePeriod)}
	}
	if r.Deadline > 0 {
		rules[guardDeadline] = &deadline{limit: time.Duration(r.Deadline), clock: g.clock, began: g.clock()}
	}
	if r.MaxCost > 0 {
		rules[guardMaxCost] = &cost{limit: r.MaxCost, prices: g.prices}
	}
	if r.MaxTurns > 0 {
		rules[guardMaxTurns] = &turnCount{limit: r.MaxTurns}
	}
	return rules
}

func (g *guards) end(loop int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.loops, loop)
}

// recording shows the guards a call. The one that is once too often is
// rejected before it is made, and the rest of its turn with it.
func (g *guards) recording(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w, ok := g.loops[r.Loop]
	if !ok {
		return r, nil
	}
	c := recordedCall(r)
	if c.child {
		return r, nil
	}
	w.heard[r.Path] = c
	for _, name := range guardOrder {
		s, ok := w.rules[name].(screen)
		if !ok {
			continue
		}
		if reason := s.screen(c); reason != "" && r.State == sdk.StateStreaming {
			r.State, r.Outcome, r.Body = sdk.StateCancelled, sdk.Aborted, reason
		}
	}
	return r, nil
}

// judge makes a filter of a guard. A loop that ends anyway is left to end as
// it does, but what happened is counted.
func (g *guards) judge(name string) func(context.Context, sdk.TurnResult) (sdk.TurnResult, error) {
	return func(_ context.Context, r sdk.TurnResult) (sdk.TurnResult, error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		w, ok := g.loops[r.Loop.ID]
		if !ok {
			return r, nil
		}
		w.take(r)
		rule, ok := w.rules[name]
		if !ok || !r.Ruling.Continue {
			return r, nil
		}
		if name, reason := rule.stop(); reason != "" {
			r.Ruling = sdk.Ruling{Status: sdk.StatusAborted, Stop: name, Reason: reason}
		}
		return r, nil
	}
}

// take counts a turn, unless it was counted already: every guard's filter gets
// the same one, and a daemon that takes up a loop may judge its last turn again.
func (w *watched) take(r sdk.TurnResult) {
	if r.Turn <= w.turn {
		return
	}
	w.turn = r.Turn
	t := &judged{TurnResult: r, calls: w.callsOf(r)}
	clear(w.heard)
	for _, rule := range w.rules {
		rule.take(t)
	}
}

// callsOf are the model's calls of a turn. One that was given up because of
// another was never made and is left out.
func (w *watched) callsOf(r sdk.TurnResult) []madeCall {
	var calls []madeCall
	for _, entry := range r.Actions {
		if givenUp(entry) {
			continue
		}
		c, ok := w.heard[entry.Path]
		if !ok {
			c = entryCall(entry, r.Completion)
		}
		if c.child {
			continue
		}
		c.cut = interrupted(entry)
		calls = append(calls, c)
	}
	return calls
}

func interrupted(entry sdk.Entry) bool { return entry.Outcome == sdk.Interrupted }

// givenUp reports whether the call was not made because of something that
// happened before it. One that a guard rejected is cancelled, and counts.
func givenUp(entry sdk.Entry) bool {
	return entry.State == sdk.StateFailed && entry.Outcome == sdk.Aborted
}
