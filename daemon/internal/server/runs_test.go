package server

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func TestRuns(t *testing.T) {
	h := open(t, nil)
	h.store.loops = []sdk.Loop{{Run: 7, Prompt: "first"}, {Run: 7, Prompt: "second\nwith more"}}
	h.store.runs[0].Persona = strings.Repeat("x", sdk.MaxPersona)
	c, ctx := h.client(t), context.Background()
	for name, w := range map[string]struct {
		p    rpc.RunsParams
		want int
	}{
		"all":             {rpc.RunsParams{}, 3},
		"project":         {rpc.RunsParams{Project: "/p/one"}, 2},
		"hidden":          {rpc.RunsParams{Project: "/p/one", Hidden: true}, 3},
		"page":            {rpc.RunsParams{Limit: 1, Offset: 1}, 1},
		"behind the last": {rpc.RunsParams{Offset: 99}, 0},
		"unknown project": {rpc.RunsParams{Project: "/p/none"}, 0},
	} {
		list, err := c.Runs(ctx, w.p)
		if err != nil || len(list) != w.want || list == nil {
			t.Errorf("%s: %d runs, %v; want %d", name, len(list), err, w.want)
		}
		for _, r := range list {
			if r.ID == 7 && (r.Summary != "second" || r.ProjectRoot != "/p/one" || len(r.Persona) != historyBody) {
				t.Errorf("%s: %+v", name, r)
			}
		}
	}
}

// spec: wrong_other_project
func TestFindRun(t *testing.T) {
	h := open(t, nil)
	for _, c := range []struct {
		run, project string
		want         int64
	}{
		{"seven", "/p/one", 7}, {"seven", "/p/two", 8}, {"7", "", 7},
		{"8", "/p/one", 9}, // an alias of digits wins over the id in its project
		{"8", "", 8}, {"7", "/p/one", 7},
		{"7", "/p/two", 0}, {"99", "", 0}, {"x", "/p/one", 0},
	} {
		run, err := h.find(context.Background(), c.run, c.project)
		if run.ID != c.want || (err == nil) != (c.want != 0) {
			t.Errorf("%q in %q is %d, %v; want %d", c.run, c.project, run.ID, err, c.want)
		}
	}
}

func TestRunDetail(t *testing.T) {
	h := open(t, nil)
	h.store.loops = []sdk.Loop{{ID: 1, Run: 7, Prompt: "p", Status: 200}}
	h.store.turns = []sdk.Turn{{Sequence: 1, Usage: &sdk.Usage{Prompt: 10, Completion: 2, Total: 12}}, {Sequence: 2}, {Sequence: 3, Usage: &sdk.Usage{Prompt: 5, Total: 5}}}
	h.store.entries = []sdk.Entry{
		{Path: "prompt://1", Body: "p", State: sdk.StateResolved},
		{Path: "instructions://system", Body: "secret recipe", State: sdk.StateResolved},
		{Path: "assistant://1", State: sdk.StateResolved},
		{Path: "log://turn_1/bash/x", Body: strings.Repeat("é", 10_000), State: sdk.StateFailed, Outcome: sdk.Exit(3), Attributes: json.RawMessage(`{"error":"exit status 3","structured":{"a":1}}`)},
		{Path: "assistant://2", Body: "done", State: sdk.StateResolved},
		{Path: "log://turn_2/finish_task/call", Loop: 1, Phase: sdk.PhaseEnded, State: sdk.StateResolved, Attributes: json.RawMessage(`{"tool":"finish_task","plugin":"bothy","arguments":{"n":1}}`)},
	}
	h.store.commit(sdk.JournalRow{Run: 7, Loop: 1, Kind: sdk.KindNoteCompletion, Data: json.RawMessage(`{"plugin":"p","usage":{"prompt":1,"total":4,"cost":0.5}}`)})
	d, err := h.client(t).Run(context.Background(), rpc.RunRef{Run: "seven", Project: "/p/one"})
	if err != nil {
		t.Fatal(err)
	}
	if d.Summary != "done" || d.Project != "/p/one" || len(d.History) != 5 || len(d.Loops) != 1 || string(d.Loops[0].Result) != `{"n":1}` {
		t.Errorf("%+v", d)
	}
	if d.Telemetry == nil || d.Telemetry.TotalTokens != 21 || d.Telemetry.PromptTokens != 16 || d.Telemetry.Cost == nil || *d.Telemetry.Cost != 0.5 || len(d.Notes) != 1 {
		t.Errorf("telemetry %+v", d.Telemetry)
	}
	action := d.History[2]
	if action.Tool != "bash" || action.Status != 500 || action.Cut != 20_000-historyBody || len(action.Body) != historyBody {
		t.Errorf("action %s status %d body %d cut %d", action.Tool, action.Status, len(action.Body), action.Cut)
	}
	if action.Attributes["error"] != "exit status 3" || action.Attributes["structured"] != nil {
		t.Errorf("attributes %v", action.Attributes)
	}
}

func TestEntriesPages(t *testing.T) {
	h := open(t, nil)
	big := strings.Repeat("x", 3<<20)
	h.store.entries = []sdk.Entry{{Path: "a", Body: big}, {Path: "b", Body: big}, {Path: "c"}, {Path: "d"}}
	c, ctx := h.client(t), context.Background()
	var paths []string
	for offset, pages := 0, 0; ; pages++ {
		page, err := c.Entries(ctx, rpc.EntriesParams{Run: "7", Offset: offset, Limit: 2})
		if err != nil || pages > 4 {
			t.Fatal(err, pages)
		}
		for _, e := range page.Entries {
			paths = append(paths, e.Path)
		}
		if offset = page.Next; offset == 0 {
			break
		}
	}
	if strings.Join(paths, "") != "abcd" {
		t.Errorf("pages gave %v", paths)
	}
}
