package server

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// delegating has the run seven delegate to one, that one to another, and that one to a third.
func delegating(f *fakeStore) {
	f.runs = append(f.runs,
		sdk.Run{ID: 12, Project: 1, Alias: "one", Agent: "engineering", Status: 200, Delegator: 7, DelegatedBy: "log://turn_1/delegate/one"},
		sdk.Run{ID: 13, Project: 1, Alias: "two", Agent: "research", Status: 102, Delegator: 12, DelegatedBy: "log://turn_1/delegate/two"},
		sdk.Run{ID: 14, Project: 1, Alias: "three", Agent: "research", Status: 102, Delegator: 13, DelegatedBy: "log://turn_1/delegate/three"},
		sdk.Run{ID: 15, Project: 1, Alias: "later", Agent: "engineering", Status: 100, Delegator: 7, DelegatedBy: "log://turn_2/delegate/later"},
	)
}

func createdRow(run, delegator int64) sdk.JournalRow {
	return sdk.JournalRow{Kind: sdk.KindRunCreated, Run: run, Project: 1, Data: json.RawMessage(fmt.Sprintf(`{"delegator":%d}`, delegator))}
}

// A watch of a run shows its children where it asks for them, those that come while it reads too.
func TestWatchOfChildren(t *testing.T) {
	h := open(t, nil)
	delegating(h.store)
	h.store.commit(rows(1, 7)...)     // 1
	h.store.commit(createdRow(12, 7)) // 2
	h.store.commit(createdRow(13, 12), rows(1, 8)[0])
	h.store.commit(rows(1, 13)...) // 5
	c := h.client(t)
	if got := follow(t, c, client.Watch{Run: 7, Children: true}, 5); !slices.Equal(got, []int64{1, 2, 3, 5}) {
		t.Errorf("saw %v", got)
	}
	if got := follow(t, c, client.Watch{Run: 12, Children: true, After: 2}, 5); !slices.Equal(got, []int64{3, 5}) {
		t.Errorf("a child's saw %v", got)
	}
	h.store.mu.Lock()
	h.store.runs = slices.DeleteFunc(h.store.runs, func(r sdk.Run) bool { return r.ID == 14 }) // nobody has made it yet
	h.store.mu.Unlock()
	alone, all := make(chan []int64), make(chan []int64)
	go func() { alone <- follow(t, c, client.Watch{Run: 7}, 11) }()
	go func() { all <- follow(t, c, client.Watch{Run: 7, Children: true, After: 3}, 11) }()
	eventually(t, "both watch", func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		return len(h.watchers) == 2
	})
	h.store.commit(createdRow(9, 8), rows(1, 9)[0], createdRow(14, 13), rows(1, 14)[0], rows(1, 8)[0], rows(1, 7)[0]) // 6 to 11
	if got := <-alone; !slices.Equal(got, []int64{1, 11}) {
		t.Errorf("without children it saw %v", got)
	}
	if got := <-all; !slices.Equal(got, []int64{5, 8, 9, 11}) {
		t.Errorf("with children it saw %v", got)
	}
}

func TestPreviewsOfChildren(t *testing.T) {
	h := open(t, nil)
	delegating(h.store)
	h.store.commit(rows(1, 7)...)
	r := h.dial(t)
	r.send(`{"jsonrpc":"2.0","id":1,"method":"journal/watch","params":{"run":"7","preview":true,"children":true,"after":1}}` + "\n")
	r.answer()
	eventually(t, "it watches", func() bool { return len(h.previewers(7)) == 1 && len(h.previewers(13)) == 1 })
	if n := len(h.previewers(9)); n != 0 {
		t.Errorf("%d are shown another run", n)
	}
}

// Who attends a watch of a run and its children attends what these propose, also one whose row the watch has not read.
func TestChildrenAreAttendedWithTheirParent(t *testing.T) {
	h := open(t, nil)
	delegating(h.store)
	for params, want := range map[string]map[int64]bool{
		`{"run":"7","attend":true,"children":true}`:  {7: true, 12: true, 13: true, 14: true, 9: false, 8: false},
		`{"run":"12","attend":true,"children":true}`: {7: false, 12: true, 13: true, 15: false},
		`{"run":"7","attend":true}`:                  {7: true, 12: false},
	} {
		r := h.enter(t, rpc.RoleApprove)
		r.send(`{"jsonrpc":"2.0","id":1,"method":"journal/watch","params":` + params + "}\n")
		if m := r.answer(); m.Error != nil {
			t.Fatal(m.Error)
		}
		for run, want := range want {
			if got := h.Attended(run, ""); got != want {
				t.Errorf("%s: run %d: %v", params, run, got)
			}
		}
		r.send(`{"jsonrpc":"2.0","id":2,"method":"journal/unwatch","params":{"watch":1}}` + "\n")
		r.answer()
	}
}

// names are those of runs, with the depth of children before theirs.
func names(list []rpc.RunSummary) string {
	text := ""
	for _, r := range list {
		text += r.Alias + " " + below(r.Children)
	}
	return text
}

func below(list []rpc.RunChild) string {
	text := ""
	for _, r := range list {
		text += fmt.Sprintf("%d:%s ", r.Depth, r.Alias)
	}
	return text
}

func TestChildrenAreListedBelowTheirParent(t *testing.T) {
	h := open(t, nil)
	delegating(h.store)
	c := h.client(t)
	list, err := c.Runs(t.Context(), rpc.RunsParams{Project: "/p/one"})
	if got := names(list); err != nil || got != "seven 1:one 2:two 3:three 1:later 8 " {
		t.Errorf("listed %q, %v", got, err)
	}
	if list, err = c.Runs(t.Context(), rpc.RunsParams{Project: "/p/one", Search: "e"}); err != nil || names(list) != "seven one three later " {
		t.Errorf("found %q, %v", names(list), err)
	}
	d, err := c.Run(t.Context(), rpc.RunRef{Run: "12"})
	if err != nil || d.Delegator == nil || *d.Delegator != (rpc.RunName{ID: 7, Run: "seven"}) || d.DelegatedBy != "log://turn_1/delegate/one" || below(d.Children) != "1:two 2:three " {
		t.Errorf("%+v, %v", d, err)
	}
	if d, err = c.Run(t.Context(), rpc.RunRef{Run: "7"}); err != nil || d.Delegator != nil || len(d.Children) != 4 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestProposalsOfChildren(t *testing.T) {
	h := open(t, func(cfg *Config) {
		cfg.Policy = &fakePolicy{open: []sdk.Proposal{
			{ID: "aaaa", Run: 13, Alias: "two", Chain: []string{"seven", "one"}, Project: "/p/one"},
			{ID: "bbbb", Run: 9, Alias: "8", Project: "/p/one"},
		}}
	})
	delegating(h.store)
	c := h.client(t)
	for run, want := range map[string]int{"7": 1, "12": 1, "13": 1, "15": 0, "8": 0, "9": 1} {
		if list, err := c.Proposals(t.Context(), rpc.ProposalsParams{Run: run}); err != nil || len(list) != want {
			t.Errorf("of %s: %+v, %v", run, list, err)
		}
	}
}

// TestAChannelAndChildren: of the children of a run that a channel made it reads, follows and ends what it does of that
// run itself, and answers nothing; of those of a person's run in the same project it does none of that.
func TestAChannelAndChildren(t *testing.T) {
	h := openChannel(t, "/p/one")
	delegating(h.store)
	for i := range h.store.runs { // below the run seven, which it made
		if h.store.runs[i].Delegator != 0 {
			h.store.runs[i].Private, h.store.runs[i].Origin = true, sdk.Origin{Owner: "chat/ada", Channel: "chat"}
		}
	}
	h.store.runs = append(h.store.runs,
		sdk.Run{ID: 20, Project: 1, Alias: "mine", Agent: "lead", Status: 102},
		sdk.Run{ID: 21, Project: 1, Alias: "mine-1", Agent: "research", Status: 102, Delegator: 20, DelegatedBy: "log://turn_1/delegate/mine"},
	)
	h.store.commit(rows(1, 7)...)
	h.store.commit(createdRow(12, 7), rows(1, 12)[0], createdRow(13, 12), rows(1, 13)[0])
	c, ctx := h.channel(t), t.Context()
	for _, run := range []string{"7", "12", "13"} {
		for name, p := range map[string]any{
			rpc.MethodRun: rpc.RunRef{Run: run}, rpc.MethodEntries: rpc.EntriesParams{Run: run}, rpc.MethodJournal: rpc.JournalParams{Run: run, Children: true},
			rpc.MethodPrompts: rpc.PromptsParams{Run: run}, rpc.MethodChanges: rpc.ChangesOf{Run: run}, rpc.MethodAbort: rpc.RunRef{Run: run},
		} {
			if err := c.Call(ctx, name, p, nil); err != nil {
				t.Errorf("%s of %s: %v", name, run, err)
			}
		}
	}
	if !slices.Equal(h.engine.aborted, []int64{7, 12, 13}) {
		t.Errorf("it ended %v", h.engine.aborted)
	}
	if got := follow(t, c, client.Watch{Run: 7, Children: true}, 5); !slices.Equal(got, []int64{1, 2, 3, 4, 5}) {
		t.Errorf("it saw %v", got)
	}
	if d, err := c.Run(ctx, rpc.RunRef{Run: "one", Project: "/p/one"}); err != nil || d.Delegator == nil || d.Delegator.Run != "seven" {
		t.Errorf("by its alias: %+v, %v", d.Delegator, err)
	}
	for _, run := range []string{"20", "21"} {
		for name, m := range h.methods {
			if _, may := channelMethods[name]; !may || !m.needs("run") {
				continue
			}
			var p map[string]any
			if err := json.Unmarshal([]byte(parameters(m)), &p); err != nil {
				t.Fatal(err)
			}
			delete(p, "project")
			p["run"] = run
			h.calm()
			if err := c.Call(ctx, name, p, nil); sdk.OutcomeOf(err) != sdk.NotFound {
				t.Errorf("%s of %s: %v", name, run, err)
			}
		}
		for name, p := range map[string]any{rpc.MethodJournal: rpc.JournalParams{Run: run, Children: true}, rpc.MethodWatch: rpc.WatchParams{Run: run, Children: true}} {
			if err := c.Call(ctx, name, p, nil); sdk.OutcomeOf(err) != sdk.NotFound {
				t.Errorf("%s of %s: %v", name, run, err)
			}
		}
	}
	h.store.entries = append(h.store.entries, sdk.Entry{Path: "log://turn_1/write/a", State: sdk.StateProposed})
	h.calm()
	for name, p := range map[string]any{
		rpc.MethodResolve:    rpc.Resolve{ID: "0001abcd", Hash: "x", Answer: sdk.Accept},
		rpc.MethodRunResolve: rpc.RunResolve{Run: "12", Resolution: rpc.Resolution{Path: "log://turn_1/write/a", Action: rpc.ActionAccept}},
		rpc.MethodSet:        map[string]any{"run": "12", "path": "log://turn_1/write/a", "state": "resolved"},
		rpc.MethodWatch:      rpc.WatchParams{Run: "12", Attend: true, Children: true},
	} {
		if err := c.Call(ctx, name, p, nil); !refused(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if h.Attended(12, "") || h.Attended(7, "") {
		t.Error("a channel attends")
	}
}
