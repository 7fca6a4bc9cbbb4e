// Package guard holds the rules that can stop a loop. It is pure: it counts the
// calls and the turns that it is shown through hooks, and rules on them; the
// engine ends the loop.
package guard

import (
	"context"
	"iter"
	"slices"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/sdk"
)

// The guards, by the name that a stopped loop bears. Their order is that of
// their filters: of two that stop at once, the first is named.
const (
	repeatedCalls     = sdk.GuardRepeatedCalls
	windowCalls       = sdk.GuardWindow
	consecutiveErrors = "consecutive_errors"
	maxStrikes        = "max_strikes"
	minCycles         = sdk.GuardMinCycles
	// Deadline is the one guard that ends a loop within a turn too; see Set.Within.
	Deadline = "deadline"
	// MaxCost ends a loop before a request that may cost too much; see Set.Reserve.
	MaxCost  = "max_cost"
	maxCost  = MaxCost
	maxTurns = sdk.GuardMaxTurns

	maxChildren = "max_children"
)

var order = []string{
	repeatedCalls, windowCalls, consecutiveErrors, maxStrikes, Deadline, maxCost, maxChildren, maxTurns,
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

// screen is a guard that has to see a call before it is made.
type screen interface {
	screen(c madeCall) screened
}

// screened is what a guard says of a call; its zero value is that it may be made.
type screened struct {
	refusal string // why it must not be, for the model
	repeats string // the path of the action whose result answers it
}

// Past is a turn that a loop had before a daemon took it up. Actions are read
// already; the actions and the answer of TurnResult are not looked at.
type Past struct {
	sdk.TurnResult
	Actions []sdk.Action
	Answer  func() sdk.Completion // reads it; few turns need it
}

// judged is a turn as the guards count it.
type judged struct {
	sdk.TurnResult
	answer  func() sdk.Completion
	actions []sdk.Action
	counted []sdk.Action // those of its actions that count
	calls   []madeCall   // in the model's order
}

// Set is the guards of all loops that run now. They hear what every subscriber
// hears: a call is seen when it is about to be recorded, a turn when it is
// judged. Only requests to models are told apart, by Reserve and Spend. Its methods
// may be called concurrently.
type Set struct {
	clock   func() time.Duration // monotonic; what the wall clock says is for people
	mu      sync.Mutex
	loops   map[int64]*watched
	settled chan struct{} // closed when a request is settled, and then another one
	removes []func()
}

// watched is a loop with its guards. Those that are off are not there.
type watched struct {
	rules   map[string]guard
	account *account
	turn    int                 // the last one that was counted
	heard   map[string]madeCall // by path: the calls of the turn that is recorded now
}

// New makes a set that subscribes to hooks.
func New(hooks *hook.Chains) *Set {
	began := time.Now()
	g := &Set{loops: map[int64]*watched{}, settled: make(chan struct{}), clock: func() time.Duration { return time.Since(began) }}
	g.removes = append(g.removes, hooks.EntryRecording.On(1, "guard "+repeatedCalls, true, g.recording))
	for i, name := range order {
		g.removes = append(g.removes, hooks.TurnVerdict.On(i+1, "guard "+name, true, g.judge(name)))
	}
	return g
}

// Close ends the subscriptions.
func (g *Set) Close() {
	for _, remove := range g.removes {
		remove()
	}
}

// Loop is a loop as it begins to be watched. All but Rules is empty for one that is new and that nobody delegated.
type Loop struct {
	Rules sdk.Guards
	Above int64 // the loop that delegated it, which is watched
	// Counted is that the loop above has counted already what this one did before: both are taken up, the one above first.
	Counted bool
	// Past are the turns that it had before a daemon took it up again, in order. They are counted and not judged: what
	// they did was judged when they ended.
	Past iter.Seq[Past]
	// Asked is what plugins asked of models in them, and in the one that is open.
	Asked []sdk.PluginCompletion
	// Open is how many delegations its open turn began or may begin yet, and Children how many there are likewise below
	// those of any turn of it; Below is what all of these used.
	Open, Children int
	Below          []*sdk.Usage
}

// Begin watches a loop.
func (g *Set) Begin(loop int64, l Loop) {
	g.mu.Lock()
	defer g.mu.Unlock()
	on := &account{}
	var above *account
	if by, ok := g.loops[l.Above]; ok {
		above = by.account
	}
	on.above = above // which limits it too
	w := &watched{rules: g.rules(l.Rules, on), account: on, heard: map[string]madeCall{}}
	if l.Counted {
		on.above = nil
	}
	on.beget(l.Open + l.Children)
	for _, usage := range l.Below {
		w.used(usage)
	}
	d, timed := w.rules[Deadline].(*deadline)
	if l.Past != nil {
		for r := range l.Past {
			if timed {
				d.spent += max(time.Duration(r.Duration), 0)
			}
			w.take(r)
		}
	}
	for _, c := range l.Asked {
		w.spend(c)
	}
	w.rules[maxChildren].(*children).counted = l.Open // which is of the open turn, and of none before it
	on.above = above
	if c, ok := w.rules[maxCost].(*cost); ok {
		c.told = c.unknown
	}
	g.loops[loop] = w
}

func (g *Set) rules(r sdk.Guards, on *account) map[string]guard {
	rules := map[string]guard{}
	if r.RepeatedCalls > 0 {
		rules[repeatedCalls] = &repeated{limit: r.RepeatedCalls}
	}
	if r.WindowCalls > 0 && r.WindowSize > 0 {
		rules[windowCalls] = &window{limit: r.WindowCalls, size: r.WindowSize}
	}
	if r.ConsecutiveErrors > 0 {
		rules[consecutiveErrors] = &failures{limit: r.ConsecutiveErrors}
	}
	if r.MaxStrikes > 0 {
		rules[maxStrikes] = &strikes{limit: r.MaxStrikes, cycles: newCycles(r.MinCycles, r.MaxCyclePeriod)}
	}
	if r.Deadline > 0 {
		rules[Deadline] = &deadline{limit: time.Duration(r.Deadline), clock: g.clock, began: g.clock()}
	}
	if on.limit = r.MaxCost; on.limited() {
		rules[maxCost] = &cost{account: on}
	}
	on.most = r.MaxChildren
	rules[maxChildren] = &children{account: on}
	if r.MaxTurns > 0 {
		rules[maxTurns] = &turnCount{limit: r.MaxTurns}
	}
	return rules
}

// ruleOf is one guard of a loop; nil where there is none. It is called with the
// lock.
func ruleOf[G guard](g *Set, loop int64, name string) (rule G) {
	if w, ok := g.loops[loop]; ok {
		rule, _ = w.rules[name].(G)
	}
	return rule
}

// End forgets a loop.
func (g *Set) End(loop int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.loops, loop)
}

// Watched is how many loops have guards now.
func (g *Set) Watched() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.loops)
}

// recording shows the guards a call. The one that is once too often is
// rejected before it is made, and the rest of its turn with it.
func (g *Set) recording(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	w, ok := g.loops[r.Loop]
	if !ok || r.Parent != "" { // a plugin's call
		return r, nil
	}
	c := recordedCall(r)
	w.heard[r.Path] = c
	for _, name := range order {
		s, ok := w.rules[name].(screen)
		if !ok {
			continue
		}
		switch said := s.screen(c); {
		case r.State != sdk.StateStreaming:
		case said.refusal != "":
			r.State, r.Outcome, r.Body = sdk.StateCancelled, sdk.Aborted, said.refusal
		case said.repeats != "":
			r.Repeats = said.repeats
		}
	}
	return r, nil
}

// judge makes a filter of a guard. A loop that ends anyway is left to end as
// it does, but what happened is counted.
func (g *Set) judge(name string) func(context.Context, sdk.TurnResult) (sdk.TurnResult, error) {
	return func(_ context.Context, r sdk.TurnResult) (sdk.TurnResult, error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		w, ok := g.loops[r.Loop.ID]
		if !ok {
			return r, nil
		}
		w.judge(r)
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

// judge counts a turn, unless it was counted already: every guard's filter gets
// the same one, and a daemon that takes up a loop may judge its last turn again.
func (w *watched) judge(r sdk.TurnResult) {
	if r.Turn <= w.turn {
		return
	}
	actions := make([]sdk.Action, len(r.Actions))
	for i, entry := range r.Actions {
		actions[i], _ = sdk.ActionOf(entry) // what can be read of it is enough
	}
	w.take(Past{TurnResult: r, Actions: actions, Answer: func() sdk.Completion { return r.Completion }})
}

func (w *watched) take(r Past) {
	w.turn = r.Turn
	t := &judged{TurnResult: r.TurnResult, answer: r.Answer, actions: r.Actions, counted: counting(r.Actions), calls: w.callsOf(r.Actions, r.Answer)}
	clear(w.heard)
	for _, rule := range w.rules {
		rule.take(t)
	}
}

// callsOf are the model's calls of a turn. One that was given up because of
// another was never made and is left out.
func (w *watched) callsOf(actions []sdk.Action, answer func() sdk.Completion) []madeCall {
	var calls []madeCall
	for _, a := range actions {
		c, ok := w.heard[a.Path]
		if givenUp(a) || !ok && a.Parent != "" { // an earlier daemon recorded a call of a plugin
			continue
		}
		if !ok {
			c = earlierCall(a, answer)
		}
		c.cut = excused(a)
		calls = append(calls, c)
	}
	return calls
}

// counting leaves out what the model does not hear of: of the calls that a plugin
// made while it served another one those that came to a good end, and the failures
// of those whose parent did; and what results asked for.
func counting(actions []sdk.Action) []sdk.Action {
	if !slices.ContainsFunc(actions, func(a sdk.Action) bool { return a.Parent != "" || a.Live }) {
		return actions
	}
	by := map[string]sdk.Action{}
	for _, a := range actions {
		by[a.Path] = a
	}
	return slices.DeleteFunc(slices.Clone(actions), func(a sdk.Action) bool {
		if a.Follows || a.Live || a.Asks { // no model called it, or it counts for nothing
			return true
		}
		if !Failed(a) {
			return a.State == sdk.StateResolved && a.Parent != ""
		}
		for parent := a.Parent; parent != ""; parent = by[parent].Parent {
			if by[parent].State == sdk.StateResolved {
				return true
			}
		}
		return false
	})
}

// excused reports whether the model did nothing wrong and may make the very call again:
// it was interrupted, or told to be made again.
func excused(a sdk.Action) bool { return a.Outcome == sdk.Interrupted || a.Outcome == sdk.Again }

// givenUp reports whether the call was not made because of something that
// happened before it. One that a guard rejected is cancelled, and counts.
func givenUp(a sdk.Action) bool {
	return a.State == sdk.StateFailed && a.Outcome == sdk.Aborted
}
