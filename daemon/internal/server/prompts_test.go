package server

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestPrompts(t *testing.T) {
	h := open(t, nil)
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	h.store.loops = []sdk.Loop{
		{ID: 1, Run: 7, Sequence: 1, Prompt: "first", Status: 200, Stop: sdk.StopAnswer, Created: at, Ended: at.Add(time.Minute), Options: json.RawMessage(`{"mode":"workspace","attachments":[{"path":"a.go"}]}`)},
		{ID: 2, Run: 7, Sequence: 2, Prompt: strings.Repeat("x", historyBody+1), Status: 102, Created: at},
		{ID: 3, Run: 7, Sequence: 3, Prompt: "third", Status: 100, Created: at.Add(time.Hour)},
	}
	h.store.turns = []sdk.Turn{{Loop: 1, Sequence: 1, Duration: time.Second}, {Loop: 1, Sequence: 2, Duration: 2 * time.Second}, {Sequence: 3}, {Loop: 2, Sequence: 4}}
	h.store.entries = []sdk.Entry{{Path: sdk.HoldPath, Writer: sdk.WriterSystem, Scope: "run:7", Attributes: json.RawMessage(`{"held":true}`)}}
	var many []rpc.PromptFile
	for i := range promptFiles + 1 {
		many = append(many, rpc.PromptFile{Path: fmt.Sprint(i)})
	}
	h.engine.touched = map[int64]rpc.PromptFiles{1: {Files: many, Untold: 2}}
	c, ctx := h.client(t), context.Background()
	got, err := c.Prompts(ctx, rpc.PromptsParams{Run: "7"})
	if err != nil || len(got.Prompts) != 3 || !got.Held || got.Run != "seven" {
		t.Fatalf("%+v %v", got, err)
	}
	third, second, first := got.Prompts[0], got.Prompts[1], got.Prompts[2]
	if third.Status != 100 || third.Turns != 0 || third.Files == nil || third.Sequence != 3 {
		t.Errorf("%+v", third)
	}
	if second.Cut != 1 || len(second.Prompt) != historyBody || second.First != 4 || second.Last != 4 {
		t.Errorf("%d bytes cut, turns %d to %d", second.Cut, second.First, second.Last)
	}
	if first.Turns != 2 || first.First != 1 || first.Last != 2 || first.Duration != sdk.Millis(3*time.Second) || first.Mode != sdk.ModeWorkspace ||
		len(first.Attachments) != 1 || len(first.Files) != promptFiles || first.More != 1 || first.Untold != 2 || first.Stop != sdk.StopAnswer {
		t.Errorf("%+v", first)
	}
	if got, err = c.Prompts(ctx, rpc.PromptsParams{Run: "7", Limit: 1, Offset: 1}); err != nil || len(got.Prompts) != 1 || got.Prompts[0].Sequence != 2 {
		t.Errorf("a page: %+v %v", got, err)
	}
	files, err := c.PromptFiles(ctx, rpc.PromptRef{Run: "7", Prompt: 1})
	if err != nil || len(files.Files) != promptFiles+1 || files.Prompt != 1 || files.Run != "seven" {
		t.Errorf("%+v %v", files, err)
	}
	if files, err = c.PromptFiles(ctx, rpc.PromptRef{Run: "7", Prompt: 3}); err != nil || files.Files == nil {
		t.Errorf("one that waits: %+v %v", files, err)
	}
	if _, err = c.PromptFiles(ctx, rpc.PromptRef{Run: "7", Prompt: 4}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("none: %v", err)
	}
}

// TestWhatARunListTells of those who come back: the last prompt, when, and what waits.
// spec: wrong_last_prompt
func TestWhatARunListTells(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	policy := &fakePolicy{open: []sdk.Proposal{{ID: "1a2b3c4d", Run: 7, Tool: "bash", Command: strings.Repeat("x", 300), Created: at}, {ID: "2", Run: 8}}}
	h := open(t, func(c *Config) { c.Policy = policy })
	h.store.loops = []sdk.Loop{
		{ID: 1, Run: 7, Prompt: "first\nline", Status: 200, Created: at, Ended: at.Add(time.Minute)},
		{ID: 2, Run: 7, Prompt: "taken back", Status: 499, Stop: sdk.StopTaken, Created: at},
		{ID: 3, Run: 9, Prompt: "waits", Status: 100, Created: at},
	}
	h.store.entries = []sdk.Entry{{Path: sdk.HoldPath, Writer: sdk.WriterSystem, Scope: "run:9", Attributes: json.RawMessage(`{"held":true}`)}}
	list, err := h.client(t).Runs(context.Background(), rpc.RunsParams{Project: "/p/one"})
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v %v", list, err)
	}
	for _, r := range list {
		switch r.ID {
		case 7:
			if r.LastPrompt != "first\nline" || r.Summary != "first" || !r.LastActivity.Equal(at.Add(time.Minute)) || len(r.Waiting) != 1 || r.Waiting[0].ID != "1a2b3c4d" || len(r.Waiting[0].What) != 200 || r.Held {
				t.Errorf("%+v", r)
			}
		case 9:
			if !r.Held || r.Queued != 1 || len(r.Waiting) != 0 {
				t.Errorf("%+v", r)
			}
		}
	}
	if list, err = h.client(t).Runs(context.Background(), rpc.RunsParams{Search: "eve"}); err != nil || len(list) != 2 {
		t.Errorf("found %+v %v", list, err)
	}
}
