package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/timeline"
)

func TestCodeBlocks(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"no block", nil},
		{"a\n```go\none\n```\nb\n~~~\ntwo\nlines\n~~~\n", []string{"one\n", "two\nlines\n"}},
		{"````md\n```\ninner\n```\n````", []string{"```\ninner\n```\n"}},
		{"```\ncut off", []string{"cut off"}},
		{"- item\n  ```\n  one\n  ```\n", []string{"  one\n"}},
		{"``no fence``", nil},
	} {
		if got := codeBlocks(c.text); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, want %q", c.text, got, c.want)
		}
	}
}

func TestMarkdownOf(t *testing.T) {
	run := &timeline.Timeline{Loops: []*timeline.Loop{{
		Sequence: 1, Prompt: "do it", Began: time.Unix(1, 0), Last: time.Unix(2, 0),
		Turns: []*timeline.Turn{{Text: "I call \x1b[31m", Actions: []*timeline.Action{{Action: sdk.Action{
			Path: "log://turn_1/bash/call", ActionCall: sdk.ActionCall{Tool: "bash", Arguments: json.RawMessage(`{"command":"ls"}`)}, State: sdk.StateResolved, Phase: sdk.PhaseEnded, Body: "a ``` b\n",
		}}}}},
		End: &sdk.LoopEnd{Status: 200, Stop: sdk.StopAnswer},
	}}}
	got := markdownOf("chat-1", run)
	for _, want := range []string{"# chat-1\n", "\n## Prompt 1\n\ndo it\n", `I call \x1b[31m`, "Call of `bash`: ok\n", "```\n{\"command\":\"ls\"}\n```\n", "````\na ``` b\n````\n", "*finished (1 turn, 1 action, 1.0s)*\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing:\n%s", want, got)
		}
	}
}
