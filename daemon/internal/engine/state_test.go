package engine

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/daemon/internal/proposal"
	"github.com/bothyd/bothy/sdk"
)

// standing is an action and what a store would hold of it.
type standing struct {
	x     *action
	entry sdk.Entry
}

func newStanding(tool sdk.Annotations) *standing {
	x := &action{tool: sdk.Tool{Pinned: true, ToolSpec: sdk.ToolSpec{Name: "t", Annotations: tool}}}
	x.Path, x.Loop, x.Turn, x.Tool, x.Arguments = "log://turn_1/t/call", 1, 1, "t", json.RawMessage(`{"a":1}`)
	x.decide(sdk.Decision{Verdict: sdk.Propose, Rule: "first"})
	return &standing{x: x}
}

// stored applies a write as the store does.
func (s *standing) stored(w sdk.Write) sdk.Entry {
	e := s.entry
	e.Path, e.Version, e.Loop, e.Turn = w.Path, e.Version+1, w.Loop, w.Turn
	if w.State != "" {
		e.State, e.Outcome = w.State, w.Outcome
	}
	if w.Phase != sdk.PhaseNone {
		e.Phase = w.Phase
	}
	if w.Body != nil {
		e.Body = *w.Body
	}
	if len(w.Attributes) > 0 {
		e.Attributes = encode(merged(object(e.Attributes), object(w.Attributes)))
	}
	s.entry = e
	return e
}

func object(text json.RawMessage) (o map[string]any) {
	_ = json.Unmarshal(text, &o)
	return o
}

func merged(into, change map[string]any) map[string]any {
	into = maps.Clone(into)
	if into == nil {
		into = map[string]any{}
	}
	for name, value := range change {
		inner, is := value.(map[string]any)
		switch {
		case value == nil:
			delete(into, name)
		case is:
			had, _ := into[name].(map[string]any)
			into[name] = merged(had, inner)
		default:
			into[name] = value
		}
	}
	return into
}

// commit writes what is next for the action: its record, or its end.
func (s *standing) commit() {
	switch {
	case s.x.entry.Phase == sdk.PhaseNone:
		s.x.committed(s.stored(s.x.recordWrite()))
	case s.x.ended() && !s.x.closed():
		s.x.committed(s.stored(s.x.endWrite()))
	}
}

// answer is what somebody else writes of an action that waits.
func (s *standing) answer(w sdk.Write, at any) {
	if s.x.waiting() {
		w.Path, w.Loop, w.Turn, w.Attributes = s.x.Path, 1, 1, encode(at)
		s.x.follow(s.stored(w))
	}
}

var transitions = map[string]func(*standing){
	"start":     func(s *standing) { s.x.start() },
	"commit":    (*standing).commit,
	"refuse":    func(s *standing) { s.x.refuse(sdk.Errorf(sdk.Permission, "no")) },
	"interrupt": func(s *standing) { s.x.interrupt() },
	"resolve":   func(s *standing) { s.x.conclude(concluded, sdk.ToolResult{Success: true, Output: "yes"}, time.Second) },
	"fail":      func(s *standing) { s.x.conclude(concluded, sdk.ToolResult{Error: "bad"}, time.Second) },
	"lose":      func(s *standing) { s.x.conclude(unknown, sdk.ToolResult{Error: "gone"}, time.Second) },
	"begin": func(s *standing) { // the step of a dispatch
		if s.x.entry.Phase != sdk.PhaseNone && !s.x.ended() && !s.x.running() && !s.x.waiting() {
			s.x.committed(s.stored(s.x.startWrite()))
		}
	},
	"decide": func(s *standing) {
		if !s.x.ended() && !s.x.running() && !s.x.agreed() { // what was approved keeps the decision that was shown
			s.x.decide(sdk.Decision{Verdict: sdk.Allow, Rule: "second"})
		}
	},
	"propose": func(s *standing) {
		if s.x.entry.Phase == sdk.PhaseRecorded && s.x.asks() {
			p := sdk.ActionProposal{ID: "p", Hash: "hash"}
			s.x.use(s.x.Arguments)
			e := s.stored(proposal.Ask(s.x.entry, p, s.x.Arguments, s.x.decision()))
			s.x.Proposal = &p
			s.x.committed(e)
		}
	},
	"accept": func(s *standing) {
		s.answer(sdk.Write{State: sdk.StateStreaming, Phase: sdk.PhaseApproved}, map[string]any{"answer": sdk.ActionAnswer{Answer: sdk.Accept}})
	},
	"reject": func(s *standing) {
		s.answer(sdk.Write{State: sdk.StateFailed, Phase: sdk.PhaseEnded, Outcome: sdk.Permission, Body: new("no")},
			map[string]any{"answer": sdk.ActionAnswer{Answer: sdk.Reject}, "error": "no"})
	},
	"expire": func(s *standing) {
		s.answer(sdk.Write{State: sdk.StateCancelled, Phase: sdk.PhaseEnded, Outcome: sdk.Aborted, Body: new("late")}, map[string]any{"error": "late"})
	},
}

// states is an action's state in words, as the engine asks for it.
func (x *action) states() string {
	word := fmt.Sprintf("%s %s %s %q", x.Phase, x.State, x.Outcome, x.Body)
	for _, is := range []struct {
		name string
		so   bool
	}{
		{"running", x.running()}, {"waiting", x.waiting()}, {"asks", x.asks()}, {"agreed", x.agreed()}, {"closed", x.closed()},
		{"rejected", x.rejected()}, {"breaks", x.breaks()}, {"changed", x.Changed != ""},
	} {
		if is.so {
			word += " " + is.name
		}
	}
	return fmt.Sprintf("%s %s %s %s", word, x.decision().Rule, x.ProposalID(), x.Arguments)
}

// TestStatesOfAnAction: each transition from each state that there is.
func TestStatesOfAnAction(t *testing.T) {
	reach := map[string][]string{
		"new": {}, "new, started": {"start"}, "new, refused": {"refuse"}, "recorded": {"commit"}, "proposed": {"commit", "propose"},
		"approved": {"commit", "propose", "accept"}, "rejected": {"commit", "propose", "reject"}, "expired": {"commit", "propose", "expire"},
		"started": {"start", "commit"}, "resolved": {"start", "commit", "resolve"}, "failed": {"start", "commit", "fail"},
		"ended": {"start", "commit", "resolve", "commit"},
	}
	allowed := map[string]string{ // by state, the transitions that change it
		"new": "start commit refuse decide", "new, started": "refuse resolve fail lose interrupt", "new, refused": "commit",
		"recorded": "begin propose refuse decide", "proposed": "accept reject expire refuse decide", "approved": "begin refuse",
		"rejected": "", "expired": "", "started": "resolve fail lose interrupt refuse", "resolved": "commit", "failed": "commit", "ended": "",
	}
	for from, path := range reach {
		for name, step := range transitions {
			s := newStanding(sdk.Annotations{})
			for _, before := range path {
				transitions[before](s)
			}
			before := s.x.states()
			step(s)
			want := false
			for _, word := range strings.Fields(allowed[from]) {
				want = want || word == name
			}
			if changed := s.x.states() != before; changed != want {
				t.Errorf("%s upon %s: changed is %v; from %s to %s", name, from, changed, before, s.x.states())
			}
		}
	}
}

// TestAStateIsThatOfTheStore: whatever happened to an action, a daemon that reads
// its entry finds it in the state in which the one before had it.
func TestAStateIsThatOfTheStore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tool := sdk.Annotations{ReadOnly: rapid.Bool().Draw(t, "reads")}
		s := newStanding(tool)
		names := rapid.SliceOfN(rapid.SampledFrom([]string{
			"start", "commit", "refuse", "interrupt", "resolve", "fail", "lose", "begin", "decide", "propose", "accept", "reject", "expire", "commit", "propose",
		}), 1, 12).Draw(t, "steps")
		for _, name := range names {
			transitions[name](s)
			if s.x.entry.Phase == sdk.PhaseNone || s.x.anew != nil || s.x.ended() && !s.x.closed() {
				continue // something is on its way to the store
			}
			at, err := sdk.ActionOf(s.entry)
			left := leftAction(leftCall{entry: s.entry, at: at, fault: err}, "", "")
			left.tool = s.x.tool
			if got, want := left.states(), s.x.states(); got != want || err != nil {
				t.Fatalf("after %v it was\n%s and is read as\n%s: %v", names, want, got, err)
			}
		}
	})
}
