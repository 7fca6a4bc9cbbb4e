package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// chunks are the commits that hold chunks, with their text.
func chunks(commits []sdk.Change) []string {
	var out []string
	for _, c := range commits {
		text := ""
		for _, w := range c.Writes {
			if w.Chunk != nil {
				text += fmt.Sprintf("%d:%s|", w.Chunk.Channel, w.Chunk.Text)
			}
		}
		for _, n := range c.Notes {
			var p struct{ Message string }
			if n.Kind == sdk.KindNoteProgress && json.Unmarshal(encode(n.Data), &p) == nil {
				text += "progress:" + p.Message
			}
		}
		if text != "" {
			out = append(out, text)
		}
	}
	return out
}

func TestShortCommandMakesNoChunkCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.tools.on("bash", func(_ context.Context, _ sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
			for range 100 {
				if err := out.Chunk(1, []byte("line\n")); err != nil {
					return sdk.ToolResult{}, err
				}
			}
			return ok(strings.Repeat("line\n", 100))
		})
		h.call(ToolCall{Tool: "read"})
		h.store.setRefuse(nil)
		done := h.call(ToolCall{Tool: "bash"})
		if n := len(h.store.commits()); n != 2 {
			t.Errorf("%d commits", n)
		}
		if done.Entry.Body != strings.Repeat("line\n", 100) {
			t.Errorf("body %q", done.Entry.Body)
		}
	})
}

func TestChunksAreCommittedAtMostFiveTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.tools.on("bash", func(_ context.Context, _ sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
			for i := range 100 { // two seconds
				if err := out.Chunk(1+i%2, []byte("x")); err != nil {
					return sdk.ToolResult{}, err
				}
				time.Sleep(20 * time.Millisecond)
			}
			return ok("the whole output")
		})
		done := h.call(ToolCall{Tool: "bash"})
		if n := len(chunks(h.store.commits())); n < 5 || n > 10 {
			t.Errorf("%d commits in two seconds", n)
		}
		if done.Entry.Body != "the whole output" {
			t.Errorf("body %q", done.Entry.Body)
		}
	})
}

func TestStreamIsVisibleWhileItRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		var seen sdk.Entry
		h.tools.on("bash", func(ctx context.Context, _ sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
			for _, p := range []string{"a", "b\xe2\x82", "\xac", "\xff"} { // a euro sign in two pieces, then no character
				if err := out.Chunk(1, []byte(p)); err != nil {
					return sdk.ToolResult{}, err
				}
			}
			if err := out.Chunk(2, []byte("e")); err != nil {
				return sdk.ToolResult{}, err
			}
			for _, m := range []string{"half", "nearly there"} {
				if err := out.Progress(m, 0.5); err != nil {
					return sdk.ToolResult{}, err
				}
			}
			time.Sleep(300 * time.Millisecond)
			var err error
			run, _ := h.store.RunByAlias(ctx, 1, "tools")
			seen, err = h.store.Entry(ctx, run.ID, "log://turn_1/bash/call")
			if err != nil {
				return sdk.ToolResult{}, err
			}
			return ok("whole")
		})
		done := h.call(ToolCall{Tool: "bash"})
		if seen.Body != "ab\u20ac\uFFFDe" || seen.State != sdk.StateStreaming || seen.Phase != sdk.PhaseStarted {
			t.Errorf("seen %q %s %s", seen.Body, seen.State, seen.Phase)
		}
		got := chunks(h.store.commits())
		if len(got) != 1 || got[0] != "1:ab\u20ac\uFFFD|2:e|progress:nearly there" {
			t.Errorf("chunks %q", got)
		}
		if done.Entry.Body != "whole" {
			t.Errorf("folded to %q", done.Entry.Body)
		}
	})
}

// TestAnswerIsKeptInPieces: a long answer is in the store while it is written,
// at most five commits a second, and folded by its record. What an earlier try
// had sent is gone.
func TestAnswerIsKeptInPieces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var h *house
		var seen []string
		look := func() {
			time.Sleep(300 * time.Millisecond)
			e, err := h.store.Entry(t.Context(), 1, "assistant://1")
			if err != nil || e.State != sdk.StateStreaming {
				t.Errorf("%+v, %v", e, err)
			}
			seen = append(seen, e.Body)
		}
		h = newHouse(t, func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
			sent := send(sdk.Delta{Text: "wrong"})
			look()
			again := retry(sdk.Retry{Attempt: 1})
			for i := range 100 { // two seconds
				d := sdk.Delta{Text: "x"}
				if i%2 == 0 {
					d = sdk.Delta{Reasoning: "y"}
				}
				sent = errors.Join(sent, send(d))
				time.Sleep(20 * time.Millisecond)
			}
			look()
			return errors.Join(sent, again, endWith(send, "stop"))
		})
		a := h.submit(Submission{})
		if l := h.await(a); l.Status != 200 {
			t.Errorf("ended %d: %s", l.Status, l.Reason)
		}
		if len(seen) != 2 || seen[0] != "wrong" || seen[1] != strings.Repeat("yx", 50) {
			t.Errorf("seen %q", seen)
		}
		if n := len(chunks(h.store.commits())); n < 5 || n > 12 {
			t.Errorf("%d commits in three seconds", n)
		}
		e := h.entries(a.Run.ID, "assistant://")
		if len(e) != 1 || e[0].Body != strings.Repeat("x", 50) || e[0].State != sdk.StateResolved {
			t.Errorf("folded to %+v", e)
		}
		h.check(a.Run.ID)
	})
}

// TestAnswerThatBreaksOff: the entry of its pieces gets an end, whatever ended
// the loop.
func TestAnswerThatBreaksOff(t *testing.T) {
	for name, c := range map[string]struct {
		hook func(h *house)
		end  error
		want string
	}{
		"the model fails":       {nil, &sdk.ProviderError{Class: sdk.ClassServer, Message: "boom"}, "half"},
		"a filter fails":        {func(h *house) { h.hooks.LLMResponse.On(10, "test", true, broken) }, nil, "half"},
		"the model begins anew": {nil, &sdk.ProviderError{Class: sdk.ClassServer, Message: "restart"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHouse(t, func(_ context.Context, _ sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
					err := send(sdk.Delta{Text: "half"})
					time.Sleep(300 * time.Millisecond)
					if c.want == "" {
						err = errors.Join(err, retry(sdk.Retry{Attempt: 1}))
					}
					if c.end != nil {
						return c.end
					}
					return errors.Join(err, endWith(send, "stop"))
				})
				if c.hook != nil {
					c.hook(h)
				}
				a := h.submit(Submission{})
				if l := h.await(a); l.Status != 500 {
					t.Errorf("ended %d: %s", l.Status, l.Reason)
				}
				e := h.entries(a.Run.ID, "assistant://")
				if len(e) != 1 || e[0].State != sdk.StateFailed || !strings.HasPrefix(e[0].Body, c.want) || !strings.Contains(string(e[0].Attributes), `"partial":true`) {
					t.Errorf("%+v", e)
				}
				h.check(a.Run.ID)
			})
		})
	}
}

func broken(_ context.Context, c sdk.Completion) (sdk.Completion, error) {
	return c, errors.New("the filter is broken")
}

func TestStreamAfterItsEnd(t *testing.T) {
	h := newHouse(t)
	var late sdk.Stream
	h.tools.on("bash", func(_ context.Context, _ sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error) {
		late = out
		return ok("whole")
	})
	done := h.call(ToolCall{Tool: "bash"})
	if late.Chunk(1, []byte("x")) == nil || late.Progress("x", 0) == nil {
		t.Error("a stream took pieces after its end")
	}
	if done.Entry.Body != "whole" {
		t.Errorf("body %q", done.Entry.Body)
	}
}
