package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/sdk"
)

// TestRecoveryOfAPartialStream: what came is kept for people, and never
// executed nor shown to the model, however often it happens.
func TestRecoveryOfAPartialStream(t *testing.T) {
	r := newRuin(t)
	r.opened()
	empty := ""
	for range 2 {
		r.left(sdk.Change{Writes: []sdk.Write{
			{Path: "assistant://1", Body: &empty, State: sdk.StateStreaming, Attributes: encode(sdk.Reply{Model: "fake/m"})},
			{Path: "assistant://1", Chunk: &sdk.Chunk{Channel: stream.ChannelReasoning, Text: "hmm"}},
			{Path: "assistant://1", Chunk: &sdk.Chunk{Channel: stream.ChannelText, Text: "I will rem"}},
		}})
		begun := make(chan struct{}, 1)
		r.models.steps = []step{silent(begun)}
		r.start()
		<-begun
		r.cut()
	}
	r.start()
	if l := r.await(Accepted{Run: r.run, Loop: r.loops[0]}); l.Status != 200 {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
	r.await(Accepted{Run: r.run, Loop: r.loops[1]})
	partials := r.entries(r.run.ID, "assistant://1/partial_")
	if len(partials) != 2 {
		t.Fatalf("%d partial answers are kept", len(partials))
	}
	for _, p := range partials {
		var at sdk.Reply
		if err := json.Unmarshal(p.Attributes, &at); err != nil || !at.Partial || at.Reasoning != "hmm" || p.Body != "I will rem" || p.Outcome != sdk.Interrupted {
			t.Errorf("%+v", p)
		}
	}
	for _, req := range r.models.asked() {
		for _, m := range req.Messages {
			if strings.Contains(m.Text, "I will rem") {
				t.Error("the model was shown half an answer")
			}
		}
	}
	r.check(r.run.ID)
}

// TestRecoveryKeepsWhatAFilterChanged: what runs is what policy judged, not
// what the model wrote.
func TestRecoveryKeepsWhatAFilterChanged(t *testing.T) {
	h := newHouse(t, calls(call{"read", `{"path":"a"}`}, call{"write", `{"path":"secret","n":null}`}))
	h.hooks.EntryRecording.On(10, "test", true, func(_ context.Context, r sdk.Recording) (sdk.Recording, error) {
		if r.Tool == "write" {
			r.Attributes = json.RawMessage(`{"arguments":{"path":"public","n":null}}`)
		}
		return r, nil
	})
	begun := make(chan struct{}, 1)
	h.tools.on("read", waiting(begun))
	a := h.submit(Submission{})
	<-begun
	h.cut()
	h.tools.on("read", nil)
	h.start()
	h.await(a)
	last := h.tools.made[len(h.tools.made)-1]
	if last.Tool != "write" || string(last.Arguments) != `{"path":"public","n":null}` {
		t.Errorf("called %s with %s", last.Tool, last.Arguments)
	}
	h.check(a.Run.ID)
}

// TestRecoveryOfAClientsCall: nobody waits for it any more, so it is not made
// again, whatever it is; what its tool still knows is recorded.
func TestRecoveryOfAClientsCall(t *testing.T) {
	for name, c := range map[string]struct {
		tool    string
		settles map[string]sdk.ToolResult
		want    string
	}{
		"nobody knows":   {"bash", nil, "bash:failed:interrupted"},
		"read-only":      {"read", nil, "read:failed:interrupted"},
		"its tool knows": {"bash", map[string]sdk.ToolResult{"bash": {Success: true, Output: "held"}}, "bash:resolved"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHouse(t)
			begun := make(chan struct{}, 1)
			h.tools.on(c.tool, waiting(begun))
			failed := make(chan error, 1)
			go func() {
				_, err := h.engine.CallTool(context.Background(), ToolCall{Project: h.project, Approved: true, Tool: c.tool, Arguments: json.RawMessage(`{"path":"a"}`)})
				failed <- err
			}()
			<-begun
			h.cut()
			if err := <-failed; sdk.OutcomeOf(err) != sdk.Interrupted {
				t.Errorf("the caller was told %v", err)
			}
			h.tools.settles = c.settles
			h.start()
			h.untilClosed(1)
			if got := h.outcomes(1); got != c.want || len(h.tools.calledTools()) != 1 {
				t.Errorf("%s, called %v", got, h.tools.calledTools())
			}
			if asked := h.tools.settled; len(asked) != 1 || asked[0].CallID != h.tools.made[0].CallID || string(asked[0].Arguments) != `{"path":"a"}` {
				t.Errorf("asked about %+v", asked)
			}
			h.check(1)
		})
	}
}

// TestOrderAcrossARestart: what was running goes on first, then the queue in
// its order; a run that takes one prompt at a time is as busy as before.
func TestOrderAcrossARestart(t *testing.T) {
	begun := make(chan struct{}, 2)
	h := newHouse(t, silent(begun), silent(begun))
	one := h.submit(Submission{Run: "r", Agent: "polite", Prompt: "one"})
	<-begun
	var rest []Accepted
	for _, prompt := range []string{"two", "three"} {
		l, _, err := h.store.Enqueue(t.Context(), sdk.Loop{Run: one.Run.ID, Prompt: prompt})
		if err != nil {
			t.Fatal(err)
		}
		rest = append(rest, Accepted{Run: one.Run, Loop: l})
	}
	h.cut()
	h.start()
	if _, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "r", Prompt: "four"}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("a busy run answered %v", err)
	}
	<-begun
	h.cut()
	h.start()
	for _, a := range append([]Accepted{one}, rest...) {
		if l := h.await(a); l.Status != 200 {
			t.Errorf("%d ended %d", l.Sequence, l.Status)
		}
	}
	var prompts []string
	for _, req := range h.models.asked() {
		prompts = append(prompts, req.Messages[len(req.Messages)-1].Text)
	}
	if want := []string{"one", "one", "one", "two", "three"}; !slices.Equal(prompts, want) {
		t.Errorf("order %q, want %q", prompts, want)
	}
	h.check(one.Run.ID)
}
