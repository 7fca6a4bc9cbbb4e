package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestLifeVerbs(t *testing.T) {
	h := open(t, nil)
	c, ctx := h.client(t), context.Background()
	h.store.loops = []sdk.Loop{{Run: 7, Status: 102}, {Run: 7, Status: 100}}
	ref := rpc.RunRef{Run: "seven", Project: "/p/one"}
	if a, err := c.Abort(ctx, ref); err != nil || a.Queued != 1 || a.ID != 7 {
		t.Errorf("%+v, %v", a, err)
	}
	if a, err := c.AbortHeld(ctx, ref); err != nil || a.Held != 2 || a.Queued != 0 {
		t.Errorf("%+v, %v", a, err)
	}
	if r, err := c.Release(ctx, ref); err != nil || r != (rpc.Released{Run: "seven", ID: 7, Queued: 2}) {
		t.Errorf("%+v, %v", r, err)
	}
	if p, err := c.TakeBack(ctx, rpc.PromptRef{Run: "7", Prompt: 2}); err != nil || !p.Taken || p.Prompt != "the text" {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := c.TakeBack(ctx, rpc.PromptRef{Run: "7"}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Error(err)
	}
	var cassette strings.Builder
	if err := c.Cassette(ctx, rpc.PromptRef{Run: "7", Prompt: 2}, &cassette); err != nil || cassette.String() != "cassette" {
		t.Errorf("%q, %v", cassette.String(), err)
	}
	if x, err := c.CancelCall(ctx, rpc.ToolCancel{Run: "7", Action: "log://turn_1/bash/ls"}); err != nil || len(x.Actions) != 1 || x.Run != "seven" {
		t.Errorf("%+v, %v", x, err)
	}
	if _, err := c.CallTool(ctx, rpc.ToolCall{Project: "/p/one", Tool: "bash", Join: true}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Errorf("a call that joins no run: %v", err)
	}
	if a, err := c.Compact(ctx, ref); err != nil || a.Loop != 3 || a.Ahead != 1 {
		t.Errorf("compact: %+v, %v", a, err)
	}
	if a, err := c.Resume(ctx, ref); err != nil || a.Loop != 2 {
		t.Errorf("%+v, %v", a, err)
	}
	f, err := c.Fork(ctx, rpc.Fork{Run: "7", As: "x", Turn: 2})
	if err != nil || f.Parent != (rpc.RunName{ID: 7, Run: "seven"}) || f.ID != 12 {
		t.Errorf("%+v, %v", f, err)
	}
	if r, err := c.Reset(ctx, ref); err != nil || r != (rpc.Changed{Run: "seven", ID: 7}) {
		t.Errorf("%+v, %v", r, err)
	}
	if r, err := c.Rename(ctx, rpc.Rename{Run: "7", Name: "new"}); err != nil || r != (rpc.Changed{Run: "new", ID: 7}) {
		t.Errorf("%+v, %v", r, err)
	}
	limit, web := 32000, true
	r, err := c.Configure(ctx, rpc.RunConfig{Run: "7", Model: "fake/m", RunOptions: rpc.RunOptions{ContextLimit: &limit, NoWeb: &web}})
	if err != nil || r.Run != "seven" || r.ID != 7 || r.Model != "fake/m" || r.ContextLimit != 32000 || !r.NoWeb || r.NoRepo {
		t.Errorf("%+v, %v", r, err)
	}
	var told map[string]any // as a client that knows the specification alone
	if err := c.Call(ctx, rpc.MethodRunConfig, map[string]any{"run": "7", "contextLimit": 8000, "noProposals": true, "temperature": 0.5, "persona": "a pirate"}, &told); err != nil ||
		told["context_limit"] != 8000.0 || told["no_proposals"] != true || told["temperature"] != 0.5 || told["persona"] != "a pirate" {
		t.Errorf("%v, %v", told, err)
	}
	if _, err := c.Delete(ctx, ref); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Error(err)
	}
	if got, want := strings.Join(h.engine.done, ", "), `abort 7 and hold, release 7, take back 2 of 7, cassette 2 of 7 from 0, cassette 2 of 7 from 5, cancel "log://turn_1/bash/ls" of 7, resume 7, fork 7 as "x" after 2, reset 7, rename 7 to new, configure 7 with fake/m, configure 7 with , delete 7`; got != want {
		t.Errorf("the engine did %s", got)
	}
	for name, call := range map[string]func() error{
		"resume": func() error { _, err := c.Resume(ctx, rpc.RunRef{Run: "none", Project: "/p/one"}); return err },
		"fork":   func() error { _, err := c.Fork(ctx, rpc.Fork{Run: "none", Project: "/p/one"}); return err },
		"reset":  func() error { _, err := c.Reset(ctx, rpc.RunRef{Run: "99"}); return err },
		"delete": func() error { _, err := c.Delete(ctx, rpc.RunRef{Run: "99"}); return err },
		"rename": func() error { _, err := c.Rename(ctx, rpc.Rename{Run: "99", Name: "x"}); return err },
	} {
		if err := call(); sdk.OutcomeOf(err) != sdk.NotFound {
			t.Errorf("%s of a run that is not there: %v", name, err)
		}
	}
	if _, err := c.Fork(ctx, rpc.Fork{Run: "7", Turn: -1}); sdk.OutcomeOf(err) != sdk.Validation {
		t.Error(err)
	}
}

func TestDetailOfAFork(t *testing.T) {
	h := open(t, nil)
	h.store.runs = append(h.store.runs, sdk.Run{ID: 20, Project: 1, Alias: "child", Parent: 7}, sdk.Run{ID: 21, Project: 1, Alias: "orphan", Parent: 99})
	h.store.loops = []sdk.Loop{{Run: 20, Status: 102}, {Run: 20, Status: 100}, {Run: 20, Status: 100}}
	h.store.commit(
		sdk.JournalRow{Run: 20, Kind: sdk.KindRunCreated, Data: json.RawMessage(`{"turns":2}`)},
		sdk.JournalRow{Run: 20, Kind: sdk.KindTurnOpened, Turn: 3},
		sdk.JournalRow{Run: 20, Kind: "note.retry", Turn: 3, Data: json.RawMessage(`{"attempt":1}`)},
		sdk.JournalRow{Run: 20, Kind: "note.progress", Turn: 3},
		sdk.JournalRow{Run: 20, Kind: sdk.KindRunReset},
	)
	c := h.client(t)
	d, err := c.Run(t.Context(), rpc.RunRef{Run: "child", Project: "/p/one"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Parent == nil || d.Parent.Run != "seven" || d.Inherited != 2 || d.Queued != 2 {
		t.Errorf("%+v", d)
	}
	if len(d.Notes) != 2 || d.Notes[0].Kind != "note.retry" || d.Notes[1].Kind != sdk.KindRunReset {
		t.Errorf("%+v", d.Notes)
	}
	if d, err = c.Run(t.Context(), rpc.RunRef{Run: "7"}); err != nil || len(d.Forks) != 1 || d.Forks[0].Run != "child" || d.Parent != nil {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = c.Run(t.Context(), rpc.RunRef{Run: "21"}); err != nil || d.Parent == nil || *d.Parent != (rpc.RunName{ID: 99}) {
		t.Errorf("the parent is gone: %+v, %v", d.Parent, err)
	}
}
