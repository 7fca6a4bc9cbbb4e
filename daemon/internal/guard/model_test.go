package guard

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/sdk"
)

// panel is the guards of one loop as a loop meets them, without an engine.
type panel struct {
	hooks  *hook.Chains
	guards *Set
	now    time.Duration
	turns  []sdk.TurnResult
	real   []sdk.Entry // of the turn that is being made

	answered int // calls that another one's result answered
}

const panelLoop = 7

func newPanel(t testing.TB, rules sdk.Guards, past ...sdk.TurnResult) *panel {
	p := &panel{hooks: hook.New(hclog.NewNullLogger()), turns: slices.Clone(past)}
	p.guards = New(p.hooks)
	p.guards.clock = func() time.Duration { return p.now }
	p.guards.Begin(panelLoop, Loop{Rules: rules, Past: pastOf(past)})
	return p
}

// pastOf is what a daemon that takes up a loop tells of turns.
func pastOf(turns []sdk.TurnResult) iter.Seq[Past] {
	var all []Past
	for _, r := range turns {
		p := Past{TurnResult: r, Answer: func() sdk.Completion { return r.Completion }}
		for _, entry := range r.Actions {
			a, _ := sdk.ActionOf(entry)
			p.Actions = append(p.Actions, a)
		}
		p.TurnResult.Actions, p.TurnResult.Completion = nil, sdk.Completion{}
		all = append(all, p)
	}
	return slices.Values(all)
}

func object(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// did is one action of a turn: "A" is a call that ended well, "A!" one that
// failed, "A#" a command with another exit status than 0, "A?" one that was
// interrupted, "A=" one that is to be made again, "A-" one that was given up. The tool L says that its answer changes.
func (p *panel) did(name string) sdk.Entry {
	tool := toolOf(name)
	e := sdk.Entry{
		Path: fmt.Sprintf("log://turn_%d/%s/%d", len(p.turns)+1, tool, len(p.real)), State: sdk.StateResolved, Body: "what " + tool + " came to",
		Attributes: object(sdk.ActionCall{Tool: tool, CallID: fmt.Sprint(len(p.real)), Arguments: object(map[string]string{"path": tool}), Live: tool == "L"}),
	}
	switch name[len(tool):] {
	case "!":
		e.State, e.Outcome = sdk.StateFailed, sdk.Timeout
	case "#":
		e.State, e.Outcome = sdk.StateFailed, sdk.Exit(1)
	case "?":
		e.State, e.Outcome = sdk.StateFailed, sdk.Interrupted
	case "=":
		e.State, e.Outcome = sdk.StateFailed, sdk.Again
	case "-":
		e.State, e.Outcome = sdk.StateFailed, sdk.Aborted
	}
	return e
}

func toolOf(name string) string { return strings.TrimRight(name, "!#?=-") }

// answers gives an action the end of the one that answers it.
func (p *panel) answers(e *sdk.Entry, path string) {
	all := slices.Clone(p.real)
	for _, t := range p.turns {
		all = append(all, t.Actions...)
	}
	for _, first := range all {
		if first.Path == path {
			e.State, e.Outcome, e.Body = first.State, first.Outcome, first.Body
			p.answered++
			return
		}
	}
	panic("no action " + path)
}

// turn takes one turn, a word for each action; "!" alone is a failure that
// belongs to none. It returns the ruling, and records as the engine does: what
// a guard rejects is cancelled, and the rest given up.
func (p *panel) turn(t testing.TB, words string) sdk.Ruling {
	r := sdk.TurnResult{Loop: sdk.HookLoop{ID: panelLoop}, Turn: len(p.turns) + 1, LoopTurn: len(p.turns) + 1, Ruling: sdk.Ruling{Continue: true, Status: sdk.StatusRunning}}
	p.real = nil
	rejected := false
	for _, word := range strings.Fields(words) {
		switch word {
		case "!":
			r.Errors = append(r.Errors, sdk.Entry{State: sdk.StateFailed, Outcome: sdk.Validation, Body: "a warning"})
			continue
		case "overflow":
			r.Errors = append(r.Errors, sdk.Entry{State: sdk.StateFailed, Outcome: sdk.Overflow, Body: "shortened"})
			continue
		case "ends":
			r.Ruling = sdk.Ruling{Status: sdk.StatusOK, Stop: sdk.StopTerminal, Reason: "it is done"}
			continue
		}
		e := p.did(word)
		if rejected {
			e = p.did(toolOf(word) + "-")
		} else if !strings.HasSuffix(word, "-") {
			rec, err := p.hooks.EntryRecording.Apply(t.Context(), sdk.Recording{Loop: panelLoop, Turn: r.Turn, Path: e.Path, Tool: word, Attributes: e.Attributes, State: sdk.StateStreaming})
			if err != nil {
				t.Fatal(err)
			}
			if rejected = rec.State != sdk.StateStreaming; rejected {
				e.State, e.Outcome, e.Body = rec.State, rec.Outcome, rec.Body
			} else if rec.Repeats != "" {
				p.answers(&e, rec.Repeats)
			}
		}
		p.real = append(p.real, e)
	}
	r.Actions = p.real
	p.turns = append(p.turns, r)
	ruled, err := p.hooks.TurnVerdict.Apply(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return ruled.Ruling
}

// tags are the guards that dialect tags has by default.
var tags = sdk.Guards{MaxTurns: 99, MaxStrikes: 3, MinCycles: 3, MaxCyclePeriod: 4}

// TestVerdicts: the rows of the cases, turn by turn.
func TestVerdicts(t *testing.T) {
	same := func(n int, turns ...string) []string { return slices.Repeat(turns, n)[:n] }
	var different []string
	for i := range 120 {
		different = append(different, fmt.Sprint("x", i))
	}
	for _, c := range []struct {
		name  string
		rules sdk.Guards
		turns []string
		at    int // the turn that ends it; 0 is none
		stop  string
	}{
		{"V1 all different", tags, different, 99, "max_turns"},
		{"V2 the same turn", tags, same(20, "A"), 5, "min_cycles"},
		{"V3 two turns", tags, same(20, "A", "B"), 8, "min_cycles"},
		{"V4 three turns", tags, same(20, "A", "B", "C"), 11, "min_cycles"},
		{"V5 four turns", tags, same(20, "A", "B", "C", "D"), 14, "min_cycles"},
		{"V5 five turns", tags, same(60, "A", "B", "C", "D", "E"), 0, ""},
		{"V6 failures without an action", tags, []string{"A !", "B !", "C !"}, 3, "max_strikes"},
		{"V7", tags, same(30, "A!", "B!", "C", "D!", "E!", "F"), 0, ""},
		{"V8", tags, []string{"A!", "B!", "C!"}, 3, "max_strikes"},
		{"V9", tags, []string{"A", "A", "A", "B", "A", "A"}, 0, ""},
		{"V9 the third is a strike", tags, []string{"A", "A", "A", "B!", "C!"}, 5, "max_strikes"},
		{"V9 the fourth clears it", tags, []string{"A", "A", "A", "B", "C!", "D!"}, 0, ""},
		{"V10 done in the end", tags, []string{"A!", "B!", "C ends"}, 3, "terminal"},
		{"V11 done, with a failure", tags, []string{"A! D!", "A! D!", "A! D!"}, 3, "max_strikes"},
		{"V15 a warning only", tags, []string{"!", "A !", "!"}, 3, "max_strikes"},
		{"V16 empty turns are turns", tags, []string{"", "", "", "", "A"}, 0, ""},
		{"V16 five of them", tags, []string{"", "", "", "", ""}, 5, "min_cycles"},
		{"V17", tags, []string{"A!", "B ends"}, 2, "terminal"},
		{"a soft 413 is no strike", tags, []string{"A overflow", "B overflow", "C overflow", "D overflow"}, 0, ""},
		{"the order within a turn", tags, []string{"A B", "B A", "A B", "B A", "A B"}, 5, "min_cycles"},
		{"strikes of both kinds", tags, []string{"A", "A", "A", "A!", "B!"}, 5, "max_strikes"},
		{"an interrupted turn is none", tags, []string{"A!", "B!", "C?", "D", "E!", "F!"}, 0, ""},
		{"and clears nothing", tags, []string{"A!", "B!", "C?", "D!"}, 4, "max_strikes"},
		{"the same call tried again", tags, []string{"A", "A", "A?", "B", "A", "A?", "A"}, 0, ""},

		{"window", sdk.Guards{WindowCalls: 3, WindowSize: 5}, []string{"A", "B", "A", "B", "A"}, 5, "window"},
		{"window, too far apart", sdk.Guards{WindowCalls: 3, WindowSize: 5}, same(30, "A", "B", "C", "A", "D", "E"), 0, ""},
		{"window in one turn", sdk.Guards{WindowCalls: 3, WindowSize: 5}, []string{"A B A B A C"}, 1, "window"},
		{"looked at again after an interruption", sdk.Guards{RepeatedCalls: 2, WindowCalls: 2, WindowSize: 5}, []string{"A", "B?", "A", "B", "A"}, 5, "window"},
		{"window, interrupted", sdk.Guards{WindowCalls: 3, WindowSize: 5}, []string{"A", "B", "A?", "B", "A"}, 0, ""},
		{"repeated before window", sdk.Guards{RepeatedCalls: 2, WindowCalls: 3, WindowSize: 3}, []string{"A", "A", "A"}, 3, "repeated_calls"},
		{"B1", sdk.Guards{RepeatedCalls: 2}, []string{"A", "A", "A"}, 3, "repeated_calls"},
		{"B1 in one turn", sdk.Guards{RepeatedCalls: 2}, []string{"A A A B"}, 1, "repeated_calls"},
		{"a third of another kind", sdk.Guards{RepeatedCalls: 2}, []string{"A", "A", "B", "A A", "B"}, 0, ""},
		{"four times", sdk.Guards{RepeatedCalls: 4}, []string{"A A", "A", "A", "A"}, 4, "repeated_calls"},
		{"what changes by itself", sdk.Guards{RepeatedCalls: 2, WindowCalls: 2, WindowSize: 9, ConsecutiveErrors: 2, MaxStrikes: 2, MinCycles: 2, MaxCyclePeriod: 2}, same(30, "L!", "L L", "L"), 0, ""},
		{"looked at in between", sdk.Guards{RepeatedCalls: 2}, same(30, "A", "L"), 0, ""},
		{"repeated, interrupted", sdk.Guards{RepeatedCalls: 2}, []string{"A?", "A", "B", "A?", "A"}, 0, ""},
		{"repeated, given up before", sdk.Guards{RepeatedCalls: 2}, []string{"A! B-", "B", "C- A", "C"}, 0, ""},
		{"B5", sdk.Guards{ConsecutiveErrors: 3}, []string{"A!", "B!", "C", "D!", "E!"}, 0, ""},
		{"three errors", sdk.Guards{ConsecutiveErrors: 3}, []string{"A!", "B! C-", "D?", "E!"}, 4, "consecutive_errors"},
		{"three errors and a success in one turn", sdk.Guards{ConsecutiveErrors: 3}, []string{"A! B! C! D"}, 0, ""},
		{"three errors in one answer", sdk.Guards{ConsecutiveErrors: 3}, []string{"A! B! C!", "D"}, 0, ""},
		{"three answers with errors", sdk.Guards{ConsecutiveErrors: 3}, []string{"A! B!", "C! D!", "E! F!"}, 3, "consecutive_errors"},
		{"an exit status is a result", sdk.Guards{ConsecutiveErrors: 2, MaxStrikes: 2}, []string{"A#", "B#", "C# D#", "E!", "F#", "G!", "H#"}, 0, ""},
		{"to be made again", sdk.Guards{ConsecutiveErrors: 2, MaxStrikes: 2, RepeatedCalls: 2, WindowCalls: 3, WindowSize: 5, MinCycles: 2, MaxCyclePeriod: 2}, append(same(29, "A="), "A"), 0, ""},
		{"nothing is on", sdk.Guards{}, same(200, "A!"), 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPanel(t, c.rules)
			at, stop := 0, ""
			for i, words := range c.turns {
				r := p.turn(t, words)
				if r.Continue {
					continue
				}
				at, stop = i+1, r.Stop
				if r.Reason == "" || r.Stop != sdk.StopTerminal && (r.Status != sdk.StatusAborted || !strings.Contains(r.Reason, "(guard "+r.Stop+")")) {
					t.Errorf("the reason says too little: %+v", r)
				}
				break
			}
			if at != c.at || stop != c.stop {
				t.Errorf("ended in turn %d by %q, want %d by %q", at, stop, c.at, c.stop)
			}
		})
	}
}

// TestWhatACycleSays: for how many turns the pattern went on, of which the last few were strikes.
func TestWhatACycleSays(t *testing.T) {
	for want, turns := range map[string][]string{
		"did the same in 5 turns,":                     {"A", "A", "A", "A", "A"},
		"did the same in 6 turns,":                     {"X", "A", "A!", "A", "A", "A!", "A"},
		"went round in circles of 2 turns for 8 turns": {"X", "A", "B", "A", "B", "A", "B", "A", "B"},
	} {
		p, reason := newPanel(t, tags), ""
		for _, words := range turns {
			reason = p.turn(t, words).Reason
		}
		if !strings.Contains(reason, want) {
			t.Errorf("after %v: %q, want %q", turns, reason, want)
		}
	}
}

// TestCallsThatAreNotMade: the call that is once too often is rejected before
// it is made, by the guards that look at calls.
func TestCallsThatAreNotMade(t *testing.T) {
	for _, rules := range []sdk.Guards{{RepeatedCalls: 2}, {WindowCalls: 3, WindowSize: 4}} {
		p := newPanel(t, rules)
		p.turn(t, "B A")
		p.turn(t, "A")
		if want := min(rules.RepeatedCalls, 1); p.answered != want || p.real[0].Body != "what A came to" {
			t.Errorf("%+v: %d calls were answered, want %d; %q", rules, p.answered, want, p.real[0].Body)
		}
		p.turn(t, "A B")
		first, second := p.real[0], p.real[1]
		if first.State != sdk.StateCancelled || first.Outcome != sdk.Aborted || !strings.HasPrefix(first.Body, "this call was not made") {
			t.Errorf("%+v: %s %s %q", rules, first.State, first.Outcome, first.Body)
		}
		if second.Outcome != sdk.Aborted {
			t.Errorf("what stands behind it: %s %s", second.State, second.Outcome)
		}
	}
}

// TestAForgedParent: a filter that calls the model's call a plugin's does not keep
// the guards from counting it.
func TestAForgedParent(t *testing.T) {
	p := newPanel(t, sdk.Guards{RepeatedCalls: 2})
	p.hooks.EntryRecording.On(0, "forger", false, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		r.Parent, r.Attributes = "log://turn_1/x/y", object(sdk.ActionCall{Tool: "A", Parent: "log://turn_1/x/y"})
		return r, nil
	})
	p.turn(t, "A")
	p.turn(t, "A")
	if r := p.turn(t, "A"); r.Stop != repeatedCalls {
		t.Errorf("ended by %q", r.Stop)
	}
}

var panelTurn = rapid.Custom(func(t *rapid.T) string {
	word := rapid.SampledFrom([]string{"A", "B", "C", "A!", "B!", "A#", "A?", "B-", "!"})
	return strings.Join(rapid.SliceOfN(word, 0, 4).Draw(t, "actions"), " ")
})

// TestGuardsAgainstAModel: each guard alone stops in the turn that its rule,
// written down as plainly as can be, names.
func TestGuardsAgainstAModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, size := rapid.IntRange(2, 4).Draw(rt, "limit"), rapid.IntRange(4, 7).Draw(rt, "size")
		script := rapid.SliceOfN(panelTurn, 1, 15).Draw(rt, "script")
		checkCalls(t, rt, sdk.Guards{RepeatedCalls: n}, script, func(made []string) bool {
			return inARow(made) > n
		})
		checkCalls(t, rt, sdk.Guards{WindowCalls: n, WindowSize: size}, script, func(made []string) bool {
			return count(made[max(0, len(made)-size):], made[len(made)-1]) >= n
		})
		checkErrors(t, rt, n, script)
		checkStrikes(t, rt, n, script)
	})
}

// inARow is how often the last call came in a row.
func inARow(made []string) (n int) {
	for n < len(made) && made[len(made)-1-n] == made[len(made)-1] {
		n++
	}
	return n
}

// checkCalls: that a call will be interrupted is not known when it is recorded;
// afterwards it is forgotten with all before it. One that is answered came to what the
// one before it did.
func checkCalls(t *testing.T, rt *rapid.T, rules sdk.Guards, script []string, tooOften func(made []string) bool) {
	p := newPanel(t, rules)
	var past []string
	cut := false // the last call that was made
	for _, words := range script {
		now, want := slices.Clone(past), false
		for _, word := range strings.Fields(words) {
			if word == "!" || strings.HasSuffix(word, "-") {
				continue
			}
			name := toolOf(word)
			if now = append(now, name); tooOften(now) {
				want = true
				break
			}
			if rules.RepeatedCalls == 0 || inARow(now) < rules.RepeatedCalls {
				cut = strings.HasSuffix(word, "?")
			}
			if past = append(past, name); cut {
				past = nil
			}
		}
		if got := !p.turn(t, words).Continue; got != want {
			rt.Fatalf("%+v: %q after %q: stopped %v, want %v", rules, words, past, got, want)
		}
		if want {
			return
		}
	}
}

func interruptedIn(words string) bool { return strings.Contains(words, "?") }

func count(list []string, one string) (n int) {
	for _, x := range list {
		if x == one {
			n++
		}
	}
	return n
}

func checkErrors(t *testing.T, rt *rapid.T, n int, script []string) {
	p := newPanel(t, sdk.Guards{ConsecutiveErrors: n})
	row := 0
	for _, words := range script {
		want, told := false, true
		for _, word := range strings.Fields(words) {
			switch {
			case word == "!" || strings.HasSuffix(word, "-") || strings.HasSuffix(word, "?"):
			case strings.HasSuffix(word, "!"):
				if told {
					row++
				}
				told = false
				want = want || row >= n
			default:
				row, told = 0, true
			}
		}
		if got := !p.turn(t, words).Continue; got != want {
			rt.Fatalf("errors: %q: stopped %v, want %v", words, got, want)
		}
		if want {
			return
		}
	}
}

// checkStrikes looks for cycles by comparing blocks.
func checkStrikes(t *testing.T, rt *rapid.T, n int, script []string) {
	least, period := rapid.IntRange(2, 3).Draw(rt, "least"), rapid.IntRange(1, 4).Draw(rt, "period")
	p := newPanel(t, sdk.Guards{MaxStrikes: n, MinCycles: least, MaxCyclePeriod: period})
	var history []string
	row := 0
	for _, words := range script {
		failed := false
		var made []string
		for _, word := range strings.Fields(words) {
			failed = failed || strings.HasSuffix(word, "!")
			if word != "!" && !strings.HasSuffix(word, "-") {
				made = append(made, toolOf(word))
			}
		}
		cut := interruptedIn(words)
		if !cut {
			slices.Sort(made)
			history = append(history, strings.Join(made, " "))
		}
		switch {
		case failed || !cut && bruteCycle(history, least, period) > 0:
			row++
		case !cut:
			row = 0
		}
		if got := !p.turn(t, words).Continue; got != (row >= n) {
			rt.Fatalf("strikes: %q: stopped %v at %d of %d, history %q", words, got, row, n, history)
		}
		if row >= n {
			return
		}
	}
}

// bruteCycle is the definition: the shortest k for which the end of the history
// is least copies of one block of k.
func bruteCycle[T comparable](history []T, least, period int) int {
	for k := 1; k <= period; k++ {
		if len(history) < k*least {
			continue
		}
		end := history[len(history)-k*least:]
		same := true
		for i := range end {
			same = same && end[i] == end[i%k]
		}
		if same {
			return k
		}
	}
	return 0
}

func TestCyclesAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		least, period := rapid.IntRange(1, 4).Draw(rt, "least"), rapid.IntRange(1, 6).Draw(rt, "period")
		c := newCycles(least, period)
		var history []digest
		for _, x := range rapid.SliceOfN(rapid.IntRange(0, 2), 1, 80).Draw(rt, "history") {
			history = append(history, digest{byte(x)})
			got, _ := c.add(history[len(history)-1])
			if want := bruteCycle(history, least, period); got != want {
				rt.Fatalf("least %d, period %d, after %d turns: %d, want %d", least, period, len(history), got, want)
			}
		}
	})
}

// TestGuardsAreLinear: what is kept of a loop does not grow with it, and
// neither does the work of a turn.
func TestGuardsAreLinear(t *testing.T) {
	p := newPanel(t, sdk.Guards{RepeatedCalls: 2, WindowCalls: 8, WindowSize: 9, ConsecutiveErrors: 3, MaxStrikes: 3, MinCycles: 3, MaxCyclePeriod: 9})
	w := p.guards.loops[panelLoop]
	for i := range 3000 {
		p.turn(t, fmt.Sprintf("x%d y%d", i, i))
		if i == 50 || i == 2999 {
			seen, c := w.rules[windowCalls].(*window), w.rules[maxStrikes].(*strikes).cycles
			if len(seen.past) != 9 || len(seen.now) != 9 || len(c.recent) != 9 || len(w.heard) != 0 {
				t.Fatalf("turn %d: %d and %d calls, %d turns, %d calls of the last turn are kept", i, len(seen.past), len(seen.now), len(c.recent), len(w.heard))
			}
		}
	}
	work := testing.AllocsPerRun(50, func() { w.rules[windowCalls].(screen).screen(madeCallOf(w)) })
	if work > 2 {
		t.Errorf("looking at a call allocates %v times", work)
	}
}

func madeCallOf(w *watched) madeCall { return w.rules[repeatedCalls].(*repeated).past.last }
