package engine

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// pieces makes a step that sends some pieces and ends with a finish.
func pieces(finish sdk.Finish, deltas ...sdk.Delta) step {
	return func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, _ func(sdk.Retry) error) error {
		for _, d := range append(deltas, sdk.Delta{Finish: &finish}) {
			if err := send(d); err != nil {
				return err
			}
		}
		return nil
	}
}

func wholeCall(index int, tool, arguments string) sdk.Delta {
	return sdk.Delta{Call: &sdk.CallDelta{Index: index, ID: "id" + tool, Tool: tool, Arguments: arguments}}
}

// TestWhatAProviderWantsBack: to the byte, and what cannot be kept does not
// take the calls of the answer with it.
func TestWhatAProviderWantsBack(t *testing.T) {
	for _, c := range []struct{ name, extra, want string }{
		{"as it came", `{"b": 1.0, "a":{"signature":null,"text":"<&>"}}`, `{"b": 1.0, "a":{"signature":null,"text":"<&>"}}`},
		{"a list", `[null, 1]`, `[null, 1]`},
		{"no JSON", "\xff{", ""},
		{"nothing", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHouse(t, pieces(sdk.Finish{Reason: "calls", Extra: json.RawMessage(c.extra)},
				sdk.Delta{Reasoning: "hm"}, wholeCall(0, "read", `{"path":"a"}`),
				sdk.Delta{Usage: &sdk.Usage{Prompt: 10, Cost: new(math.NaN())}}))
			a := h.submit(Submission{})
			h.await(a)
			m := h.models.asked()[1].Messages
			if len(m) != 4 || len(m[2].Calls) != 1 || m[2].Reasoning != "hm" || string(m[2].Extra) != c.want {
				t.Errorf("the second request is %+v", m)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestCallsThatWereCutOff: a call without arguments in an answer that reached
// its limit ended before them.
func TestCallsThatWereCutOff(t *testing.T) {
	for _, reason := range []string{"length", "filter"} {
		h := newHouse(t, pieces(sdk.Finish{Reason: reason},
			wholeCall(0, "read", `{"path":"a"}`), wholeCall(1, "write", `{"path":"a","content":"hal`), wholeCall(2, "bash", "")))
		a := h.submit(Submission{})
		h.await(a)
		if got := h.tools.calledTools(); !slices.Equal(got, []string{"read"}) {
			t.Errorf("%s: called %v", reason, got)
		}
		if got := h.outcomes(a.Run.ID); !strings.HasPrefix(got, "read:resolved write:failed:validation bash:failed") {
			t.Errorf("%s: %s", reason, got)
		}
		h.check(a.Run.ID)
	}
}

// TestRecordingFilterThatForgetsTheState: only what comes back as it went is
// let pass.
func TestRecordingFilterThatForgetsTheState(t *testing.T) {
	for _, state := range []sdk.State{"", sdk.StateResolved, sdk.StateProposed, "denied"} {
		h := newHouse(t, calls(numbered("write", 1)))
		h.hooks.EntryRecording.On(10, "test", true, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
			return sdk.Recording{State: state}, nil
		})
		a := h.submit(Submission{})
		h.await(a)
		if got := h.tools.calledTools(); len(got) != 0 {
			t.Errorf("state %q let %v pass", state, got)
		}
		if got := h.outcomes(a.Run.ID); got != "write:failed:permission" {
			t.Errorf("state %q: %s", state, got)
		}
		h.check(a.Run.ID)
	}
}

// TestRecordingFilterThatSpoilsTheArguments: the call is not made with those
// that the filter wanted changed.
func TestRecordingFilterThatSpoilsTheArguments(t *testing.T) {
	for _, spoiled := range []string{``, `null`, `{}`, `{"arguments":null}`, `{"arguments":"x"}`} {
		h := newHouse(t, calls(numbered("write", 1)))
		h.hooks.EntryRecording.On(10, "test", true, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
			r.Attributes = json.RawMessage(spoiled)
			return r, nil
		})
		a := h.submit(Submission{})
		h.await(a)
		if got := h.outcomes(a.Run.ID); len(h.tools.calledTools()) != 0 || got != "write:failed:permission" {
			t.Errorf("%q: %s", spoiled, got)
		}
		h.check(a.Run.ID)
	}
}

// TestNamesOfOneTool: hooks and guards know a tool by one name.
func TestNamesOfOneTool(t *testing.T) {
	h := newHouse(t, calls(call{"read", `{"path":"a"}`}, call{"fake__read", `{"path":"a"}`}, call{"read", `{"path":"a"}`}))
	a := h.submit(Submission{})
	if l := h.await(a); l.Stop != "repeated_calls" {
		t.Errorf("ended %q: %s", l.Stop, l.Reason)
	}
	if got := h.tools.calledTools(); !slices.Equal(got, []string{"read"}) {
		t.Errorf("called %v", got)
	}
	h.check(a.Run.ID)
}

// TestBehindARefusedEnd: a terminal call that was not accepted gives up all
// that stands behind it, or nothing of it.
func TestBehindARefusedEnd(t *testing.T) {
	h := prepareHouse(t, calls(numbered("read_bad", 1), call{"done", "{}"}, numbered("write", 2), numbered("write", 3)))
	h.tools.add("done", sdk.Annotations{Terminal: true}, true, sdk.GrantProject)
	h.start()
	a := h.submit(Submission{})
	h.await(a)
	if got := h.outcomes(a.Run.ID); got != "read_bad:failed:timeout done:failed:conflict write:failed:aborted write:failed:aborted" {
		t.Error(got)
	}
	h.check(a.Run.ID)
}

// TestStopBetweenAnswerAndRecord: what the model said is recorded, nothing new
// begins, and the next daemon makes the call.
func TestStopBetweenAnswerAndRecord(t *testing.T) {
	h := newHouse(t, calls(numbered("write", 1)))
	h.hooks.TurnResponse.On(10, "test", func(context.Context, sdk.TurnResult) error {
		h.engine.drain(errStopping)
		return nil
	})
	a := h.submit(Submission{})
	h.until("the call is recorded", func() bool { return len(h.actions(a.Run.ID)) == 1 })
	if err := h.engine.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := h.actions(a.Run.ID)[0].Phase; len(h.tools.calledTools()) != 0 || got != sdk.PhaseRecorded {
		t.Errorf("called %v, recorded as %s", h.tools.calledTools(), got)
	}
	h.start()
	if l := h.await(a); l.Status != 200 || len(h.tools.calledTools()) != 1 {
		t.Errorf("ended %d, called %v", l.Status, h.tools.calledTools())
	}
	h.check(a.Run.ID)
}

// TestEndIsRecordedWhenTheDiskIsBack: a loop does not stay at 102 until the
// next start because its end could not be recorded for a while.
func TestEndIsRecordedWhenTheDiskIsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := prepareHouse(t, say("fine"))
		h.start()
		h.engine.patience = 60 * time.Millisecond
		tried := make(chan struct{}, 1000)
		full := sdk.Errorf(sdk.Unavailable, "the disk is full")
		accepted := make(chan struct{}) // both prompts: while an end is held, none would be
		h.store.setRefuse(func(_ int, c sdk.Change) error {
			if c.EndLoop == nil {
				return nil
			}
			<-accepted
			tried <- struct{}{}
			return full
		})
		a := h.submit(Submission{})
		b := h.submit(Submission{Run: a.Run.Alias})
		close(accepted)
		for range 5 {
			<-tried
		}
		h.store.setRefuse(nil)
		for _, x := range []Accepted{a, b} {
			if l := h.await(x); l.Status != 200 {
				t.Errorf("ended %d: %s", l.Status, l.Reason)
			}
		}
		h.check(a.Run.ID)
	})
}

// lazyStore cannot give out a loop at first.
type lazyStore struct {
	*watchedStore
	refusals atomic.Int32
}

func (s *lazyStore) ClaimLoop(ctx context.Context, run int64) (sdk.Loop, bool, error) {
	if s.refusals.Add(-1) >= 0 {
		return sdk.Loop{}, false, sdk.Errorf(sdk.Unavailable, "the database is busy")
	}
	return s.watchedStore.ClaimLoop(ctx, run)
}

// TestPromptThatCannotBeTakenYet: what was acknowledged is worked on, without
// anybody asking again.
func TestPromptThatCannotBeTakenYet(t *testing.T) {
	h := prepareHouse(t, say("fine"))
	lazy := &lazyStore{watchedStore: h.store}
	lazy.refusals.Store(3)
	h.config.Store = lazy
	h.start()
	a := h.submit(Submission{})
	if l := h.await(a); l.Status != 200 {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
	h.check(a.Run.ID)
}

// TestCallOfANamedRunLeftByADeath: it gets its end at the start, not when
// somebody next uses the run.
func TestCallOfANamedRunLeftByADeath(t *testing.T) {
	h := newHouse(t)
	a, err := h.engine.StartRun(t.Context(), Submission{Project: h.project, Run: "mine"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.store.Commit(t.Context(), sdk.Change{Run: a.Run.ID, OpenTurn: &sdk.Turn{}, Writes: []sdk.Write{{
		Path: "log://turn_1/bash/ls", Create: true, Writer: sdk.WriterSystem, State: sdk.StateStreaming, Phase: sdk.PhaseStarted, Turn: 1,
		Attributes: json.RawMessage(`{"call_id":"call_1","tool":"bash"}`),
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if err := h.engine.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.start()
	h.untilClosed(a.Run.ID)
	if got := h.outcomes(a.Run.ID); got != "bash:failed:interrupted" {
		t.Error(got)
	}
	h.check(a.Run.ID)
}

// TestModelOfASubmission: a run keeps its model unless the prompt or the agent
// that it names wants another.
func TestModelOfASubmission(t *testing.T) {
	h := prepareHouse(t)
	h.agents["picky"] = sdk.Agent{Model: "fake/picky"}
	h.start()
	first := h.submit(Submission{Run: "r", Model: "fake/first"})
	for _, c := range []struct {
		s         Submission
		want, why string // where nothing is to be said, the word of the models
	}{
		{Submission{}, "fake/first", "it is the only one"},
		{Submission{Agent: "default"}, "fake/first", "it is the only one"},
		{Submission{Agent: "picky"}, "fake/picky", "the agent picky names it"},
		{Submission{Agent: "picky", Model: "fake/x"}, "fake/x", "it is the only one"},
	} {
		c.s.Run = first.Run.Alias
		if got := h.submit(c.s); got.Model != c.want || got.Why != c.why {
			t.Errorf("%+v took %s because %q, want %s because %q", c.s, got.Model, got.Why, c.want, c.why)
		}
	}
	h.untilIdle()
}

// TestModelOfDefault: an agent that names no model has that of the agent default.
func TestModelOfDefault(t *testing.T) {
	h := prepareHouse(t)
	h.agents["default"], h.agents["picky"], h.agents["chat"] = sdk.Agent{Model: "fake/usual"}, sdk.Agent{Model: "fake/picky"}, sdk.Agent{}
	h.start()
	for agent, want := range map[string]string{"default": "fake/usual", "chat": "fake/usual", "picky": "fake/picky"} {
		names := agent
		if agent == "chat" {
			names = "default"
		}
		if got := h.submit(Submission{Agent: agent}); got.Model != want || got.Why != "the agent "+names+" names it" {
			t.Errorf("%s took %s because %q, want %s", agent, got.Model, got.Why, want)
		}
	}
	h.untilIdle()
}

// TestReasoningOfAnAgent: how much an agent is to think goes to its model with every
// request, and nothing for an agent that does not say.
func TestReasoningOfAnAgent(t *testing.T) {
	h := prepareHouse(t)
	h.agents["deep"] = sdk.Agent{Reasoning: sdk.ReasoningHigh}
	h.start()
	h.run(Submission{Agent: "deep"})
	h.run(Submission{})
	if asked := h.models.asked(); len(asked) != 2 || asked[0].Reasoning != sdk.ReasoningHigh || asked[1].Reasoning != "" {
		t.Errorf("%d requests: %+v", len(asked), asked)
	}
}

// TestTurnNumberThatIsTaken: to count anew does no harm to a call that runs.
func TestTurnNumberThatIsTaken(t *testing.T) {
	h := newHouse(t)
	begun, end := make(chan struct{}), make(chan struct{})
	h.tools.on("bash", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
		close(begun)
		<-end
		return ok("fine")
	})
	slow := make(chan ToolDone, 1)
	go func() {
		done, err := h.engine.CallTool(context.Background(), ToolCall{Project: h.project, Approved: true, Tool: "bash"})
		if err != nil {
			t.Error(err)
		}
		slow <- done
	}()
	<-begun
	h.store.setRefuse(func(n int, _ sdk.Change) error {
		if n == 1 {
			return sdk.Errorf(sdk.Conflict, "the next turn is another")
		}
		return nil
	})
	quick := h.call(ToolCall{Tool: "read"})
	close(end)
	done := <-slow
	if done.Entry.State != sdk.StateResolved || quick.Entry.State != sdk.StateResolved {
		t.Errorf("%+v, %+v", done.Entry, quick.Entry)
	}
	h.check(done.Run.ID)
}

// fullStore has no room for another prompt.
type fullStore struct{ *watchedStore }

func (fullStore) Begin(context.Context, sdk.Loop) (sdk.Loop, sdk.Receipt, error) {
	return sdk.Loop{}, sdk.Receipt{}, sdk.Errorf(sdk.Unavailable, "queueing a prompt: the disk is full")
}

// TestPromptThatCannotBeQueued: the reason is told once.
func TestPromptThatCannotBeQueued(t *testing.T) {
	h := prepareHouse(t)
	h.config.Store = fullStore{h.store}
	h.start()
	_, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Prompt: "do it"})
	if sdk.OutcomeOf(err) != sdk.Unavailable || strings.Count(err.Error(), "prompt") != 1 {
		t.Errorf("got %v", err)
	}
}
