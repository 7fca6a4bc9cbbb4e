package engine

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// TestARunThatWentOnReplays: the prompts before are no part of it.
func TestARunThatWentOnReplays(t *testing.T) {
	h := newHouse(t, append([]step{calls(call{"finish", `{}`})}, conversation()...)...)
	first := h.submit(Submission{Prompt: "hello"})
	h.await(first)
	a := h.submit(Submission{Run: first.Run.Alias, Mode: sdk.ModeFull, Record: true})
	h.await(a)
	file, h := h.taped(a), modelless(t)
	if l := h.run(Submission{Mode: sdk.ModeFull, Replay: file, Strict: true}); l.Status != sdk.StatusOK {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
}

func TestMismatch(t *testing.T) {
	says := func(text string) fakeTool {
		return func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) { return ok(text) }
	}
	file, _ := record(t, conversation()...)
	for _, c := range []struct {
		name   string
		change func(h *house, s *Submission)
		says   []string // none: it replays
	}{
		{"another prompt", func(_ *house, s *Submission) { s.Prompt = "something else" }, []string{"step 1, message 1 (user) differs", `"do it"`, `"something else"`}},
		{"what was read", func(h *house, _ *Submission) { h.tools.on("read", says("changed")) }, []string{"step 2, message 1 (tool) of read differs", `"changed"`}},
		{"what was written", func(h *house, _ *Submission) { h.tools.on("write", says("changed")) }, nil},
		{"what was written, strictly", func(h *house, s *Submission) { h.tools.on("write", says("changed")); s.Strict = true }, []string{"step 2, message 2 (tool) of write differs", `"changed"`}},
		{"a tool that is gone", func(h *house, _ *Submission) { h.tools.remove("read") }, []string{"step 2, message 1 (tool) of read"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := modelless(t)
			s := Submission{Mode: sdk.ModeFull, Replay: file}
			c.change(h, &s)
			a := h.submit(s)
			l := h.await(a)
			if c.says == nil {
				if l.Status != sdk.StatusOK {
					t.Errorf("ended %d: %s", l.Status, l.Reason)
				}
				return
			}
			if l.Stop != sdk.StopMismatch || sdk.StopExit(l.Stop, l.Status) != sdk.ExitFailed {
				t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
			}
			for _, text := range c.says {
				if !strings.Contains(l.Reason, text) {
					t.Errorf("%q lacks %q", l.Reason, text)
				}
			}
			h.check(a.Run.ID)
		})
	}
}

// TestACassetteThatIsNotPlayedToItsEnd: who ends early has another conversation.
func TestACassetteThatIsNotPlayedToItsEnd(t *testing.T) {
	file, _ := record(t, conversation()...)
	h := modelless(t)
	h.tools.become("write", func(tool *sdk.Tool) { tool.Annotations.Terminal = true })
	l := h.run(Submission{Mode: sdk.ModeFull, Replay: file})
	if l.Stop != sdk.StopMismatch || !strings.Contains(l.Reason, "3 steps") || !strings.Contains(l.Reason, "write ended the work") {
		t.Errorf("ended %d %q: %s", l.Status, l.Stop, l.Reason)
	}
}

// TestAPromptThatDidNotFitReplays: what a server had left out is no difference.
func TestAPromptThatDidNotFitReplays(t *testing.T) {
	long := func(h *house) {
		h.tools.on("read", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
			return ok(strings.Repeat("a line of a long text\n", 2000))
		})
	}
	tooLong := failing(&sdk.ProviderError{Class: sdk.ClassOverflow, Message: "too long"})
	h := newHouse(t, calls(call{"read", `{}`}), tooLong, tooLong, calls(call{"write", `{}`}), say("done"))
	long(h)
	a := h.submit(Submission{Mode: sdk.ModeFull, Record: true})
	if l := h.await(a); l.Status != sdk.StatusOK || len(h.models.asked()) != 5 {
		t.Fatalf("ended %d after %d requests: %s", l.Status, len(h.models.asked()), l.Reason)
	}
	file, h := h.taped(a), modelless(t)
	long(h)
	if l := h.run(Submission{Mode: sdk.ModeFull, Replay: file, Strict: true}); l.Status != sdk.StatusOK {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
}

// TestAReplayIsResumedWithAModel: what comes behind a mismatch is on no cassette.
func TestAReplayIsResumedWithAModel(t *testing.T) {
	file, _ := record(t, conversation()...)
	h := newHouse(t)
	a := h.submit(Submission{Prompt: "something else", Replay: file})
	h.await(a)
	again, err := h.engine.Resume(t.Context(), a.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if l := h.await(again); l.Status != sdk.StatusOK || l.Model != "fake/m" || len(h.models.asked()) != 1 {
		t.Errorf("ended %d with %s: %s", l.Status, l.Model, l.Reason)
	}
}

// TestAFallbackReplays: one cassette plays in the place of all models that answered, each
// with as much of a result as it had read.
func TestAFallbackReplays(t *testing.T) {
	long := func(h *house) {
		h.tools.on("read", func(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
			return ok(strings.Repeat("a line of a long text\n", 2000))
		})
	}
	down := failing(&sdk.ProviderError{Class: sdk.ClassGateway, Message: "refused"})
	h := prepareHouse(t, calls(call{"read", `{"n":1}`}), calls(call{"read", `{"n":2}`}), down, calls(call{"write", `{}`}), say("done"))
	small := sdk.ModelChoice{Alias: "far/small", Provider: "far", Name: "small", Context: 8000, Fallback: []string{"far/large"}}
	large := sdk.ModelChoice{Alias: "far/large", Provider: "far", Name: "large", Context: 200_000}
	h.config.Models = &chained{fakeModels: h.models, first: small, others: map[string]sdk.ModelChoice{"far/large": large}, contexts: map[string]int{}}
	h.start()
	long(h)
	a := h.submit(Submission{Mode: sdk.ModeFull, Record: true})
	if l := h.await(a); l.Status != sdk.StatusOK || len(h.models.asked()) != 5 {
		t.Fatalf("ended %d after %d requests: %s", l.Status, len(h.models.asked()), l.Reason)
	}
	file, did := h.taped(a), h.invoked()
	c, err := cassette.Read(bytes.NewReader(read(t, file)))
	if err != nil || c.Model != "far/small" || c.ContextAt(1) != 8000 || c.ContextAt(2) != 200_000 || len(c.Steps) != 4 {
		t.Fatalf("error %v: %s with %d, then %d and %d", err, c.Model, c.Context, c.ContextAt(1), c.ContextAt(2))
	}
	h = modelless(t)
	long(h)
	again := h.submit(Submission{Mode: sdk.ModeFull, Replay: file, Strict: true, Record: true})
	if l := h.await(again); l.Status != sdk.StatusOK {
		t.Errorf("ended %d: %s", l.Status, l.Reason)
	}
	if got := h.invoked(); !slices.Equal(got, did) {
		t.Errorf("did %q, and %q when it was recorded", got, did)
	}
	if first, second := read(t, file), read(t, h.taped(again)); !bytes.Equal(first, second) {
		t.Error("two recordings of one conversation differ")
	}
}
