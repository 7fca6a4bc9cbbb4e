package engine

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// ends are the rows of the journal that end a loop.
func (h *house) ends(run int64) []sdk.Ruling {
	h.t.Helper()
	rows, err := h.store.Journal(context.Background(), sdk.JournalQuery{Run: run})
	if err != nil {
		h.t.Fatal(err)
	}
	var ends []sdk.Ruling
	for _, row := range rows {
		if row.Kind != sdk.KindLoopEnded {
			continue
		}
		var r sdk.Ruling
		if err := json.Unmarshal(row.Data, &r); err != nil {
			h.t.Fatal(err)
		}
		ends = append(ends, r)
	}
	return ends
}

// many makes n turns with a call each, all different.
func many(tool string, n int) []step {
	var steps []step
	for i := range n {
		steps = append(steps, calls(numbered(tool, i)))
	}
	return steps
}

// TestOneStop: on every path a loop ends once, with a status and a reason, and
// who listens hears it once. Only an end that is well has a status of success.
func TestOneStop(t *testing.T) {
	const reading = `{"path":"a"}`
	hang := func(ctx context.Context, _ sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
		<-ctx.Done()
		return sdk.ToolResult{}, ctx.Err()
	}
	soon := sdk.Guards{Deadline: sdk.Duration(30 * time.Millisecond)}
	for name, c := range map[string]struct {
		guards sdk.Guards
		steps  []step
		with   func(h *house)
		status int
		stop   string
		says   string
	}{
		"answer":           {status: 200, stop: "answer", says: "answered"},
		"no word":          {steps: []step{say("")}, status: 204, stop: "answer", says: "without a word"},
		"terminal":         {steps: []step{calls(call{"finish", "{}"})}, status: 200, stop: "terminal", says: "finish ended the work"},
		"max_turns":        {guards: sdk.Guards{MaxTurns: 2}, steps: many("read", 5), status: 499, stop: "max_turns", says: "2 turns"},
		"repeated_calls":   {guards: sdk.Guards{RepeatedCalls: 2}, steps: []step{calls(call{"read", reading}, call{"read", reading}, call{"read", reading})}, status: 499, stop: "repeated_calls", says: "the same call of read 3 times"},
		"window":           {guards: sdk.Guards{WindowCalls: 2, WindowSize: 3}, steps: []step{calls(call{"read", reading}), calls(numbered("read", 1)), calls(call{"read", reading})}, status: 499, stop: "window", says: "2 times within 3 calls"},
		"errors":           {guards: sdk.Guards{ConsecutiveErrors: 2}, steps: many("read_bad", 5), status: 499, stop: "consecutive_errors", says: "it did not work"},
		"strikes":          {guards: sdk.Guards{MaxStrikes: 2}, steps: many("read_bad", 5), status: 499, stop: "max_strikes", says: "2 turns in a row"},
		"cycles":           {guards: sdk.Guards{MaxStrikes: 1, MinCycles: 2, MaxCyclePeriod: 2}, steps: []step{calls(call{"read", reading}), calls(call{"read", reading})}, status: 499, stop: "min_cycles", says: "did the same in 2 turns"},
		"deadline, tool":   {guards: soon, steps: many("read", 1), with: func(h *house) { h.tools.on("read", hang) }, status: 499, stop: "deadline", says: "longer than 30ms"},
		"deadline, model":  {guards: soon, steps: []step{hanging(make(chan struct{}, 1))}, status: 499, stop: "deadline", says: "longer than 30ms"},
		"deadline, silent": {guards: soon, steps: []step{silent(make(chan struct{}, 1))}, status: 499, stop: "deadline", says: "longer than 30ms"},
		"max_cost":         {guards: sdk.Guards{MaxCost: 1}, steps: slices.Repeat([]step{costing(0.4, numbered("read", 1))}, 5), status: 499, stop: "max_cost", says: "has cost 1.2 and may cost 1"},
		"no model":         {steps: []step{failing(&sdk.ProviderError{Class: sdk.ClassServer, Message: "boom"})}, status: 500, stop: "failed", says: "boom"},
		"cut off":          {steps: []step{sayThen("half", "length")}, status: 500, stop: "failed", says: "cut off"},
		"filtered":         {steps: []step{sayThen("", "filter")}, status: 500, stop: "failed", says: "content filter"},
		"overflow":         {steps: []step{failing(&sdk.ProviderError{Class: sdk.ClassOverflow, Message: "too long"})}, status: 413, stop: "overflow", says: "too long"},
		"panic of a tool":  {steps: many("read", 1), with: func(h *house) { h.tools.on("read", panicking) }, status: 200, stop: "answer", says: "answered"},
		"panic of a part":  {with: func(h *house) { h.config.Views[sdk.ViewTranscript] = panicView{h.config.Views[sdk.ViewTranscript]} }, status: 500, stop: "failed", says: "internal error"},
		"verdict fails":    {with: func(h *house) { h.verdict(sdk.Ruling{}, errors.New("no")) }, status: 500, stop: "failed", says: "a guard that fails denies"},
		"verdict nonsense": {with: func(h *house) { h.verdict(sdk.Ruling{}, nil) }, steps: many("read", 1), status: 500, stop: "failed", says: "which no loop can have"},
		"verdict stops":    {with: func(h *house) { h.verdict(sdk.Ruling{Status: 422, Stop: "lint", Reason: "no"}, nil) }, steps: many("read", 1), status: 422, stop: "lint", says: "no"},
		"without a reason": {with: func(h *house) { h.verdict(sdk.Ruling{Status: 499}, nil) }, steps: many("read", 1), status: 499, stop: "failed", says: "gave no reason"},
		"recording fails":  {with: func(h *house) { h.recording(errors.New("no")) }, steps: many("read", 1), status: 200, stop: "answer", says: "answered"},
		"assembly fails": {with: func(h *house) {
			h.hooks.AssemblyUser.On(1, "t", true, func(_ context.Context, p sdk.Prompt) (sdk.Prompt, error) { return p, errors.New("no") })
		}, status: 500, stop: "failed", says: "no"},
		"policy panics": {with: func(h *house) { h.config.Policy = panicPolicy{} }, steps: many("read", 1), status: 500, stop: "failed", says: "internal error"},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareHouse(t, c.steps...)
			h.agents["it"] = sdk.Agent{Guards: c.guards}
			heard := h.hearEnds()
			if c.with != nil {
				c.with(h)
			}
			h.start()
			a := h.submit(Submission{Agent: "it"})
			h.await(a)
			h.untilIdle()
			ends := h.ends(a.Run.ID)
			if len(ends) != 1 || ends[0].Status != c.status || ends[0].Stop != c.stop || !strings.Contains(ends[0].Reason, c.says) {
				t.Fatalf("ended %+v, want %d %q that says %q", ends, c.status, c.stop, c.says)
			}
			if got := heard(); len(got) != 1 || got[0].Status != c.status || got[0].Reason != ends[0].Reason || got[0].Loop.Stop != c.stop {
				t.Errorf("loop.completed told %+v", got)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestOneStopOfAnAbort: likewise when a person ends it.
func TestOneStopOfAnAbort(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, silent(begun))
	a := h.submit(Submission{})
	<-begun
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	if ends := h.ends(a.Run.ID); len(ends) != 1 || ends[0].Status != 499 || ends[0].Stop != "aborted" {
		t.Errorf("ended %+v", ends)
	}
}

func (h *house) hearEnds() func() []sdk.LoopEvent {
	var mu sync.Mutex
	var heard []sdk.LoopEvent
	h.hooks.LoopCompleted.On(10, "t", func(_ context.Context, e sdk.LoopEvent) error {
		mu.Lock()
		defer mu.Unlock()
		heard = append(heard, e)
		return nil
	})
	return func() []sdk.LoopEvent {
		mu.Lock()
		defer mu.Unlock()
		return slices.Clone(heard)
	}
}

func (h *house) verdict(r sdk.Ruling, err error) {
	h.hooks.TurnVerdict.On(10, "t", false, func(_ context.Context, t sdk.TurnResult) (sdk.TurnResult, error) {
		t.Ruling = r
		return t, err
	})
}

func (h *house) recording(err error) {
	h.hooks.EntryRecording.On(10, "t", false, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) { return r, err })
}

type panicPolicy struct{}

func (panicPolicy) Decide(sdk.PolicyRequest) sdk.Decision { panic("broken policy") }

func panicking(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
	panic("broken tool")
}

func sayThen(text, reason string) step {
	return func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		if text != "" {
			if err := send(sdk.Delta{Text: text}); err != nil {
				return err
			}
		}
		return endWith(send, reason)
	}
}

// TestVerdictsOfTools: the rows of the cases that apply to dialect tools, with
// real turns.
func TestVerdictsOfTools(t *testing.T) {
	good := func(n int) step { return calls(numbered("read", n)) }
	bad := func(n int) step { return calls(numbered("read_bad", n)) }
	done := call{"finish", "{}"}
	for _, c := range []struct {
		name  string
		steps []step
		stop  string
		turns int
		want  string // what the last turn's calls came to
	}{
		{"V2", slices.Repeat([]step{good(1)}, 9), "min_cycles", 5, "read:resolved"},
		{"V7", []step{bad(1), bad(2), good(3), bad(4), bad(5), good(6)}, "answer", 7, ""},
		{"V8", []step{bad(1), bad(2), bad(3), good(4)}, "max_strikes", 3, "read_bad:failed:timeout"},
		{"V9", []step{good(1), good(1), good(1), good(2), good(1)}, "answer", 6, ""},
		{"V10", []step{calls(done)}, "terminal", 1, "finish:resolved"},
		{"V11 after a failure", []step{calls(numbered("read_bad", 1), done)}, "answer", 2, ""},
		{"V11 again and again", []step{calls(numbered("read_bad", 1), done), calls(numbered("read_bad", 2), done), calls(numbered("read_bad", 3), done)}, "max_strikes", 3, "read_bad:failed:timeout finish:failed:conflict"},
		{"V11 before a call that cannot be made", []step{calls(done, call{"nosuch", "{}"}), calls(done)}, "terminal", 2, "finish:resolved"},
		{"V11 before one that is given up", []step{calls(done, numbered("write", 1))}, "terminal", 1, "finish:resolved write:failed:aborted"},
		{"V13 an answer", []step{say("well"), say("never")}, "answer", 1, ""},
		{"V17", []step{bad(1), calls(done)}, "terminal", 2, "finish:resolved"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := prepareHouse(t, c.steps...)
			h.agents["tags"] = sdk.Agent{Guards: tags}
			h.start()
			a := h.submit(Submission{Agent: "tags"})
			l := h.await(a)
			if n := len(h.models.asked()); l.Stop != c.stop || n != c.turns {
				t.Errorf("ended %q after %d turns, want %q after %d: %s", l.Stop, n, c.stop, c.turns, l.Reason)
			}
			if got := h.outcomes(a.Run.ID); !strings.HasSuffix(got, c.want) {
				t.Errorf("the calls came to %s, want %s in the last turn", got, c.want)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestStrikesEndWithTheLoop is V18: a new prompt begins without them.
func TestStrikesEndWithTheLoop(t *testing.T) {
	h := prepareHouse(t, calls(numbered("read_bad", 1)), calls(numbered("read_bad", 2)), say("one"), calls(numbered("read_bad", 3)), say("two"))
	h.agents["tags"] = sdk.Agent{Guards: tags}
	h.start()
	for range 2 {
		if l := h.run(Submission{Run: "r", Agent: "tags"}); l.Stop != "answer" {
			t.Errorf("ended %q: %s", l.Stop, l.Reason)
		}
	}
}

// TestSuccessBesideAFailure: no loop ends by a claim of success in a turn in
// which a call failed.
// spec: dispatch_path response_healing wrong_done
func TestSuccessBesideAFailure(t *testing.T) {
	failed := []call{{"read_bad", "{}"}, {"write_bad", "{}"}, {"nosuch", "{}"}, {"read", "["}, {"read", `{"path":"../x"}`}}
	for _, f := range failed {
		for _, turn := range [][]call{{f, {"finish", "{}"}}, {{"finish", "{}"}, f}, {{"read", "{}"}, f, {"finish", "{}"}}} {
			h := newHouse(t, calls(turn...), say("well"))
			a := h.submit(Submission{Agent: "free"})
			l := h.await(a)
			ran := slices.ContainsFunc(h.actions(a.Run.ID), func(e sdk.Entry) bool { return e.State == sdk.StateFailed && e.Outcome != sdk.Aborted })
			if ran && l.Stop == "terminal" {
				t.Errorf("%v ended the loop: %s", turn, h.outcomes(a.Run.ID))
			}
			h.check(a.Run.ID)
		}
	}
}

// TestClockThatJumps is fault 53: a wall clock that goes a day forth or back
// neither fires a deadline nor hides one.
func TestClockThatJumps(t *testing.T) {
	for _, jump := range []time.Duration{24 * time.Hour, -24 * time.Hour} {
		h := prepareHouse(t, many("read", 4)...)
		var mu sync.Mutex
		now := time.Now().Round(0) // without a monotonic reading
		h.config.Clock = func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			now = now.Add(jump)
			return now
		}
		h.agents["calm"] = sdk.Agent{Guards: sdk.Guards{Deadline: sdk.Duration(time.Hour)}}
		h.agents["hasty"] = sdk.Agent{Guards: sdk.Guards{Deadline: sdk.Duration(30 * time.Millisecond)}}
		h.start()
		if l := h.run(Submission{Agent: "calm"}); l.Stop != "answer" {
			t.Errorf("%s: ended %q: %s", jump, l.Stop, l.Reason)
		}
		h.models.mu.Lock()
		h.models.steps = []step{silent(make(chan struct{}, 1))}
		h.models.mu.Unlock()
		if l := h.run(Submission{Agent: "hasty"}); l.Stop != "deadline" {
			t.Errorf("%s: ended %q: %s", jump, l.Stop, l.Reason)
		}
	}
}

// TestDeadlineCutsACall: what was cut says why, like a call that a person cut.
func TestDeadlineCutsACall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the call has begun, however busy the machine is
		h := prepareHouse(t, calls(numbered("write", 1), numbered("write", 2)))
		h.agents["hasty"] = sdk.Agent{Guards: sdk.Guards{Deadline: sdk.Duration(time.Second)}}
		h.tools.on("write", waiting(make(chan struct{}, 1)))
		h.start()
		a := h.submit(Submission{Agent: "hasty"})
		if l := h.await(a); l.Stop != "deadline" {
			t.Errorf("ended %q: %s", l.Stop, l.Reason)
		}
		if got := h.outcomes(a.Run.ID); got != "write:cancelled:aborted write:failed:aborted" {
			t.Errorf("got %s", got)
		}
		for _, e := range h.actions(a.Run.ID) {
			if x, _ := sdk.ActionOf(e); !strings.Contains(x.Why(), "(guard deadline)") {
				t.Errorf("%s says %q", e.Path, x.Why())
			}
		}
		h.check(a.Run.ID)
	})
}
