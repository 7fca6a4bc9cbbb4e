package engine

import (
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestGather: servers of MCP are started once for a prompt that may use them, for a call only
// that of its tool, and for looking at what waits none.
func TestGather(t *testing.T) {
	h := newAsking(t, calls(numbered("read", 1)), calls(numbered("write", 2)), say("done"))
	gathered := func() string {
		h.tools.mu.Lock()
		defer h.tools.mu.Unlock()
		var all []string
		for _, a := range h.tools.gathered {
			all = append(all, fmt.Sprintf("%s %v", a.Name, a.MCP))
		}
		h.tools.gathered = nil
		return fmt.Sprint(all)
	}
	a := h.submit(Submission{})
	p := h.proposed()
	if got := gathered(); got != "[ []]" && got != "[default []]" {
		t.Errorf("a prompt of two turns: %s", got)
	}
	if _, err := h.engine.Proposals(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := h.engine.Explain(t.Context(), p.Run, p.Path); err != nil {
		t.Error(err)
	}
	if got := gathered(); got != "[]" {
		t.Errorf("looking at a proposal: %s", got)
	}
	h.answer(p, sdk.Accept)
	h.await(a)
	if got := gathered(); got != "[ []]" {
		t.Errorf("accepting what is no call of a server: %s", got)
	}
	for tool, want := range map[string]string{"mcp__notes__search": "[ [notes]]", "read": "[ []]", "mcp__odd": "[ []]"} {
		_, _ = h.engine.CallTool(t.Context(), ToolCall{Project: h.project, Approved: true, Tool: tool})
		if got := gathered(); got != want && got != "[tools"+want[1:] && got != "[default"+want[1:] {
			t.Errorf("a call of %s: %s", tool, got)
		}
	}
}

// TestGatherLent: servers that are lent to the run are started with the others, and again where others are lent
// before a later turn; those of another run are not.
func TestGatherLent(t *testing.T) {
	h := newAsking(t, calls(numbered("read", 1)), calls(numbered("read", 2)), say("done"))
	turn := 0
	h.engine.cfg.Lent = func(run string) []string {
		h.tools.mu.Lock()
		defer h.tools.mu.Unlock()
		if turn++; turn == 1 {
			return []string{"_a_notes"}
		}
		return []string{"_a_notes", "_a_more"}
	}
	h.await(h.submit(Submission{}))
	h.tools.mu.Lock()
	defer h.tools.mu.Unlock()
	var all []string
	for _, a := range h.tools.gathered {
		all = append(all, fmt.Sprint(a.Lent))
	}
	if got := fmt.Sprint(all); got != "[[_a_notes] [_a_notes _a_more]]" {
		t.Errorf("started for a prompt of three turns: %s", got)
	}
}

// TestLentToolsArePrivate: neither a plugin's call nor an error about one reaches what is lent to another run.
func TestLentToolsArePrivate(t *testing.T) {
	h := newAsking(t)
	for _, server := range []string{"_a_notes", "_b_notes", "notes"} {
		name := "mcp__" + server + "__search"
		h.tools.add(name, sdk.Annotations{}, false)
		h.tools.become(name, func(x *sdk.Tool) { x.Plugin = "mcp__" + server })
	}
	h.engine.cfg.Lent = func(run string) []string {
		if run == "a" {
			return []string{"_a_notes"}
		}
		return nil
	}
	for _, c := range []struct {
		run, server string
		has         bool
	}{{"a", "_a_notes", true}, {"a", "_b_notes", false}, {"a", "notes", true}, {"b", "_a_notes", false}, {"b", "notes", true}} {
		_, err := h.engine.pluginTool(sdk.Run{Key: c.run}, "mcp__"+c.server+"__search")
		if (err == nil) != c.has {
			t.Errorf("run %s and %s: %v", c.run, c.server, err)
		}
		if _, err := h.engine.pluginTool(sdk.Run{Key: "b"}, "none"); err == nil || strings.Contains(err.Error(), "mcp___") {
			t.Errorf("a tool that is not there: %v", err)
		}
	}
}
