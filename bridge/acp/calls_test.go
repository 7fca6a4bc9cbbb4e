package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/timeline"
)

func TestKindOf(t *testing.T) {
	runs := sdk.Tool{ToolSpec: sdk.ToolSpec{Command: "command"}}
	reads := sdk.Tool{ToolSpec: sdk.ToolSpec{Annotations: sdk.Annotations{ReadOnly: true}}}
	passed := sdk.Tool{ToolSpec: sdk.ToolSpec{Annotations: sdk.Annotations{ReadOnly: true}, Source: "a server"}}
	for name, c := range map[string]struct {
		tool sdk.Tool
		want acp.ToolKind
	}{
		"bash": {runs, acp.ToolKindExecute}, "make": {runs, acp.ToolKindExecute},
		"read_file": {reads, acp.ToolKindRead}, "list_files": {reads, acp.ToolKindRead}, "diff_files": {reads, acp.ToolKindRead},
		"find_files": {reads, acp.ToolKindSearch}, "grep": {reads, acp.ToolKindSearch},
		"write_file": {sdk.Tool{}, acp.ToolKindEdit}, "edit_file": {sdk.Tool{}, acp.ToolKindEdit}, "create_directory": {sdk.Tool{}, acp.ToolKindEdit}, "copy_path": {sdk.Tool{}, acp.ToolKindEdit},
		"delete_path": {sdk.Tool{}, acp.ToolKindDelete}, "move_path": {sdk.Tool{}, acp.ToolKindMove},
		"files__read_file": {reads, acp.ToolKindRead}, "mcp__web__fetch_page": {sdk.Tool{}, acp.ToolKindFetch}, "mcp__read__rename": {sdk.Tool{}, acp.ToolKindMove},
		"mcp__web__read_page": {passed, acp.ToolKindOther}, "mcp__web__weather": {passed, acp.ToolKindOther}, // the words of a server choose nothing
		"weather": {reads, acp.ToolKindRead}, "deploy": {sdk.Tool{}, acp.ToolKindOther},
	} {
		if got := kindOf(c.tool, name); got != c.want {
			t.Errorf("%s is %s, want %s", name, got, c.want)
		}
	}
}

func TestPlaces(t *testing.T) {
	for arguments, want := range map[string]string{
		`{"path":"a.go"}`:                             "/p/a.go",
		`{"path":"a.go","start_line":3}`:              "/p/a.go:3",
		`{"path":"/p/src/a.go"}`:                      "/p/src/a.go",
		`{"path":"/workspace/a.go"}`:                  "/p/a.go",
		`{"source":"a.go","destination":"b.go"}`:      "/p/a.go /p/b.go",
		`{"path":"a.go","other":"a.go"}`:              "/p/a.go",
		`{"paths":[{"path":"a.go"},{"path":"b.go"}]}`: "/p/a.go /p/b.go",
		`{"path":"../a.go"}`:                          "",
		`{"path":"/etc/passwd"}`:                      "",
		`{"path":7}`:                                  "",
		`{"command":"cat a.go"}`:                      "",
		`"no object"`:                                 "",
	} {
		var got []string
		for _, l := range places(json.RawMessage(arguments), "/p") {
			at := l.Path
			if l.Line != nil {
				at += ":" + json.Number(strings.TrimSpace(string(mustJSON(t, *l.Line)))).String()
			}
			got = append(got, at)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", arguments, got, want)
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestStatusOf(t *testing.T) {
	for _, c := range []struct {
		state sdk.State
		phase sdk.Phase
		want  acp.ToolCallStatus
	}{
		{sdk.StateStreaming, sdk.PhaseRecorded, acp.ToolCallStatusPending},
		{sdk.StateProposed, sdk.PhaseRecorded, acp.ToolCallStatusPending},
		{sdk.StateStreaming, sdk.PhaseApproved, acp.ToolCallStatusPending},
		{sdk.StateStreaming, sdk.PhaseStarted, acp.ToolCallStatusInProgress},
		{sdk.StateResolved, sdk.PhaseEnded, acp.ToolCallStatusCompleted},
		{sdk.StateFailed, sdk.PhaseEnded, acp.ToolCallStatusFailed},
		{sdk.StateCancelled, sdk.PhaseEnded, acp.ToolCallStatusFailed},
	} {
		a := &timeline.Action{Action: sdk.Action{State: c.state, Phase: c.phase}}
		if got := statusOf(a); got != c.want {
			t.Errorf("%s %s is %s, want %s", c.state, c.phase, got, c.want)
		}
	}
}

// TestOutput: a long result is cut in its middle, between lines, and nothing of it ends the fence.
func TestOutput(t *testing.T) {
	long := "first\n" + strings.Repeat("ü filler ```\n", 4000) + "last"
	got := output(long)
	if len(got) != 1 {
		t.Fatalf("%d parts", len(got))
	}
	text := got[0].Content.Content.Text.Text
	if len(text) > mostOutput+200 || !strings.HasPrefix(text, "````\nfirst\n") || !strings.HasSuffix(text, "\nlast\n````") || !strings.Contains(text, "left out") {
		t.Errorf("%d bytes: %.100q ... %q", len(text), text, sdk.Tail(text, 100))
	}
	if output(" \n\n") != nil {
		t.Error("blanks are shown")
	}
}
