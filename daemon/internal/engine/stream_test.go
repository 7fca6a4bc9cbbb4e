package engine

import (
	"context"
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
			if p, ok := n.Data.(*progressNote); ok {
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
	h := newHouse(t)
	h.tools.on("bash", func(_ context.Context, _ sdk.Invocation, out Stream) (sdk.ToolResult, error) {
		for range 100 {
			if err := out.Chunk(1, []byte("line\n")); err != nil {
				return sdk.ToolResult{}, err
			}
		}
		return ok(strings.Repeat("line\n", 100))
	})
	h.call(ToolCall{Tool: "read"})
	h.store.setRefuse(nil)
	start := time.Now()
	done := h.call(ToolCall{Tool: "bash"})
	if n := len(h.store.commits()); n != 2 && time.Since(start) < chunkTime {
		t.Errorf("%d commits", n)
	}
	if done.Entry.Body != strings.Repeat("line\n", 100) {
		t.Errorf("body %q", done.Entry.Body)
	}
}

func TestChunksAreCommittedAtMostFiveTimesASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.tools.on("bash", func(_ context.Context, _ sdk.Invocation, out Stream) (sdk.ToolResult, error) {
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
		h.tools.on("bash", func(ctx context.Context, _ sdk.Invocation, out Stream) (sdk.ToolResult, error) {
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

func TestStreamAfterItsEnd(t *testing.T) {
	h := newHouse(t)
	var late Stream
	h.tools.on("bash", func(_ context.Context, _ sdk.Invocation, out Stream) (sdk.ToolResult, error) {
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

func TestStreamIsBounded(t *testing.T) {
	e := &Engine{}
	s := newStream(e, 1, &action{})
	s.timer = time.NewTimer(time.Hour) // nothing is flushed
	defer s.timer.Stop()
	for range 200 {
		if err := s.Chunk(1, []byte(strings.Repeat("x", 100<<10))); err != nil {
			t.Fatal(err)
		}
	}
	if s.size > maxPending || len(s.sent) > 2*maxSent+100<<10 {
		t.Errorf("%d bytes wait, %d are kept", s.size, len(s.sent))
	}
	if sent := s.close(false); len(sent) != maxSent {
		t.Errorf("%d bytes of the end", len(sent))
	}
}
