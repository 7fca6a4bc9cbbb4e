package engine

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/sdk"
)

// The guards, by the name that a stopped loop bears.
const (
	guardMaxTurns          = "max_turns"
	guardRepeatedCalls     = "repeated_calls"
	guardConsecutiveErrors = "consecutive_errors"
)

// guards are the rules that can stop a loop. They hear what every subscriber
// hears and have no other way in: a call is seen when it is about to be
// recorded, a turn when it is judged.
type guards struct {
	mu      sync.Mutex
	loops   map[int64]*streaks
	removes []func()
}

// streaks is what the guards remember of one loop.
type streaks struct {
	rules    sdk.Guards
	call     string // the last one, in a form that equal calls share
	same     int    // how often it came in a row
	repeated string // the tool whose call was made too often
	errors   int    // failed actions in a row
	worst    int    // the longest such row
}

func newGuards(hooks *hook.Chains) *guards {
	g := &guards{loops: map[int64]*streaks{}}
	const owner = "guard "
	g.removes = []func(){
		hooks.EntryRecording.On(1, owner+guardRepeatedCalls, true, g.recording),
		hooks.TurnVerdict.On(1, owner+guardRepeatedCalls, true, g.judge(g.repeatedCalls)),
		hooks.TurnVerdict.On(2, owner+guardConsecutiveErrors, true, g.judge(g.consecutiveErrors)),
		hooks.TurnVerdict.On(3, owner+guardMaxTurns, true, g.judge(g.maxTurns)),
	}
	return g
}

func (g *guards) leave() {
	for _, remove := range g.removes {
		remove()
	}
}

// begin watches a loop. Past are the turns that the loop had before a daemon
// took it up again; empty for a loop that begins.
func (g *guards) begin(loop int64, rules sdk.Guards, _ []sdk.TurnResult) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.loops[loop] = &streaks{rules: rules}
}

func (g *guards) end(loop int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.loops, loop)
}

// recording counts calls. The one that is once too often is rejected before it
// is made, and the rest of its turn with it.
func (g *guards) recording(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, ok := g.loops[r.Loop]
	if !ok || s.rules.RepeatedCalls <= 0 {
		return r, nil
	}
	if call := signature(r); call == s.call {
		s.same++
	} else {
		s.call, s.same = call, 1
	}
	if s.same >= s.rules.RepeatedCalls {
		s.repeated = r.Tool
		r.State, r.Outcome = sdk.StateCancelled, sdk.Aborted
		r.Body = fmt.Sprintf("this call was not made: it is the same as the one before it, %d times in a row", s.same)
	}
	return r, nil
}

// signature is equal for calls of one tool with equal arguments, whatever the
// order of their keys.
func signature(r sdk.Recording) string {
	var at struct {
		Arguments json.RawMessage `json:"arguments"`
	}
	if json.Unmarshal(r.Attributes, &at) != nil {
		return r.Tool + "\x00" + string(r.Attributes)
	}
	dec := json.NewDecoder(bytes.NewReader(at.Arguments))
	dec.UseNumber()
	var arguments any
	if dec.Decode(&arguments) != nil {
		return r.Tool + "\x00" + string(at.Arguments)
	}
	return r.Tool + "\x00" + string(encode(arguments))
}

// judge makes a filter of a guard. A loop that ends anyway is left to end as
// it does, but what happened is counted.
func (g *guards) judge(rule func(*streaks, sdk.TurnResult) (string, string)) func(context.Context, sdk.TurnResult) (sdk.TurnResult, error) {
	return func(_ context.Context, r sdk.TurnResult) (sdk.TurnResult, error) {
		g.mu.Lock()
		defer g.mu.Unlock()
		s, ok := g.loops[r.Loop.ID]
		if !ok {
			return r, nil
		}
		if name, reason := rule(s, r); name != "" && r.Ruling.Continue {
			r.Ruling = sdk.Ruling{Status: sdk.StatusAborted, Stop: name, Reason: reason}
		}
		return r, nil
	}
}

func (g *guards) repeatedCalls(s *streaks, _ sdk.TurnResult) (string, string) {
	if s.repeated == "" {
		return "", ""
	}
	return guardRepeatedCalls, fmt.Sprintf("the model made the same call of %s %d times in a row, so it was stopped (guard repeated_calls)", s.repeated, s.same)
}

// consecutiveErrors counts over turns and tools. What was given up because of
// something else counts neither as a failure nor as a success.
func (g *guards) consecutiveErrors(s *streaks, r sdk.TurnResult) (string, string) {
	last := ""
	for _, entry := range r.Actions {
		switch {
		case entry.State == sdk.StateResolved:
			s.errors = 0
		case entry.State == sdk.StateFailed && entry.Outcome != sdk.Aborted:
			s.errors++
			s.worst = max(s.worst, s.errors)
			last = entry.Body
		}
	}
	if s.rules.ConsecutiveErrors <= 0 || s.worst < s.rules.ConsecutiveErrors {
		return "", ""
	}
	return guardConsecutiveErrors, fmt.Sprintf("%d calls in a row failed, so the model was stopped (guard consecutive_errors); the last one: %s", s.worst, excerpt(last))
}

func (g *guards) maxTurns(s *streaks, r sdk.TurnResult) (string, string) {
	if s.rules.MaxTurns <= 0 || r.LoopTurn < s.rules.MaxTurns {
		return "", ""
	}
	return guardMaxTurns, fmt.Sprintf("the model took %d turns without coming to an end, so it was stopped (guard max_turns)", r.LoopTurn)
}

// excerpt is the first line of a text, cut to what a sentence can hold.
func excerpt(text string) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace([]byte(text)), []byte("\n"))
	if r := []rune(string(line)); len(r) > 200 {
		return string(r[:200]) + "..."
	}
	return string(line)
}
