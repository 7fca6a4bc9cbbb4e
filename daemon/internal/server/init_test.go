package server

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestInit: a connection that says its project names it no more, and is told of its runs, of what waits
// first; another init takes the place of that.
// spec: rpc_methods
func TestInit(t *testing.T) {
	policy := &fakePolicy{open: []sdk.Proposal{{Run: 7, Path: waitsPath, Project: "/p/one"}, {Run: 8, Path: waitsPath, Project: "/p/two"}}}
	h := openWeb(t, func(c *Config) { c.Policy = policy })
	h.store.seed()
	p := h.begin(t, rpc.RoleSubmit)
	if m := p.call("act", `{"prompt":"go"}`); m["error"] == nil || !strings.Contains(fmt.Sprint(m["error"]), `needs the parameter "project"`) {
		t.Errorf("without a project: %v", m)
	}
	for _, params := range []string{`{}`, `{"projectRoot":"relative"}`, `{"projectRoot":"/p/none"}`, `{"projectRoot":"/p/one","states":"some"}`, `{"projectRoot":"/p/one","root":"x"}`} {
		if m := p.call("init", params); m["error"] == nil {
			t.Errorf("init with %s: %v", params, m)
		}
	}
	if n := len(h.engine.prompts); n != 0 {
		t.Fatalf("%d prompts were taken", n)
	}

	p.send(`{"jsonrpc":"2.0","id":"begin","method":"init","params":{"name":"mine","projectRoot":"/p/one","configPath":"/c"}}`)
	_, said := p.told(func(m string, _ map[string]any) bool { return m == rpc.NoteProposal })
	if said["run"] != "seven" || said["proposed"].([]any)[0].(map[string]any)["path"] != waitsPath {
		t.Errorf("what waits is told as %v", said)
	}
	if m := p.call("act", `{"prompt":"go"}`); m["error"] != nil || h.engine.prompts[0].Project != "/p/one" {
		t.Errorf("act: %v, in %v", m, h.engine.prompts)
	}
	if m := p.call("act", `{"prompt":"go","project":"/p/two"}`); m["error"] != nil || h.engine.prompts[1].Project != "/p/two" {
		t.Errorf("act elsewhere: %v, in %v", m, h.engine.prompts)
	}
	if m := p.call("getRun", `{"run":"seven"}`); m["result"].(map[string]any)["id"] != 7.0 {
		t.Errorf("getRun by the alias alone: %v", m)
	}
	if runs := p.call("getRuns", `{}`)["result"].([]any); len(runs) != 2 {
		t.Errorf("getRuns has %v", runs)
	}
	h.store.commit(noteRow(sdk.KindLoopEnded, `{"status":499}`))
	if m := p.hears(rpc.NoteState); m["status"] != 499.0 || len(m["history"].([]any)) != 4 {
		t.Errorf("the state is %v", m)
	}

	m := p.call("init", `{"projectRoot":"/p/two"}`)["result"].(map[string]any)
	if m["projectId"] != 2.0 || m["name"] != "two" || m["projectRoot"] != "/p/two" {
		t.Errorf("init: %v", m)
	}
	row := noteRow(sdk.KindLoopEnded, `{"status":500}`)
	row.Run, row.Project = 8, 2
	h.store.commit(noteRow(sdk.KindLoopEnded, `{"status":499}`), row)
	if m := p.hears(rpc.NoteState); m["status"] != 500.0 {
		t.Errorf("the state is %v", m)
	}
	if m := p.call("journal/unwatch", fmt.Sprintf(`{"watch":%v}`, m["watch"])); m["error"] != nil {
		t.Errorf("the watch of init: %v", m)
	}
	if status, m := h.post(t, rpc.RoleSubmit, `{"jsonrpc":"2.0","id":1,"method":"init","params":{"projectRoot":"/p/one"}}`); status != 200 || m["error"] == nil {
		t.Errorf("by POST: %d %v", status, m)
	}
}

// TestInitIsNotOvertaken: what is sent behind an init is about its project, also by who does not wait for
// the answer.
func TestInitIsNotOvertaken(t *testing.T) {
	h := open(t, func(c *Config) { c.Limits.InFlight = 300 })
	r := h.enter(t, rpc.RoleSubmit)
	var lines strings.Builder
	for i := range 100 {
		root := []string{"/p/one", "/p/two"}[i%2]
		fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":"init","params":{"projectRoot":%q}}`+"\n", 2*i, root)
		fmt.Fprintf(&lines, `{"jsonrpc":"2.0","id":%d,"method":"act","params":{"prompt":%q}}`+"\n", 2*i+1, root)
	}
	r.send(lines.String())
	for range 200 {
		if m := r.answer(); m.Error != nil {
			t.Fatalf("%s: %v", m.ID, m.Error)
		}
	}
	for _, p := range h.engine.prompts {
		if p.Project != p.Prompt {
			t.Errorf("a prompt for %s went to %s", p.Prompt, p.Project)
		}
	}
	if n := len(h.engine.prompts); n != 100 {
		t.Errorf("%d prompts were taken", n)
	}
}

// TestInitThatFails: what is sent behind one is no work in the project before, also by who does not wait for the answer.
func TestInitThatFails(t *testing.T) {
	for name, failing := range map[string]string{
		"no such project": `{"jsonrpc":"2.0","id":"x","method":"init","params":{"projectRoot":"/p/none"}}`,
		"no root":         `{"jsonrpc":"2.0","id":"x","method":"init","params":{}}`,
		"in a batch":      `[{"jsonrpc":"2.0","id":"x","method":"init","params":{"projectRoot":"/p/none"}}]`,
		"no answer":       `{"jsonrpc":"2.0","method":"init","params":{"projectRoot":"/p/none"}}`,
	} {
		h := openWeb(t, nil)
		p := h.begin(t, rpc.RoleSubmit)
		p.call("init", `{"projectRoot":"/p/one"}`)
		p.send(failing)
		if m := p.call("act", `{"prompt":"go"}`); m["error"] == nil || len(h.engine.prompts) != 0 {
			t.Errorf("%s: %v, in %v", name, m, h.engine.prompts)
		}
		if m := p.call("init", `{"projectRoot":"/p/two"}`); m["error"] != nil {
			t.Errorf("%s: %v", name, m)
		}
		if m := p.call("act", `{"prompt":"go"}`); m["error"] != nil || h.engine.prompts[0].Project != "/p/two" {
			t.Errorf("%s: %v, in %v", name, m, h.engine.prompts)
		}
	}
}

// TestInitWaitsForRoom: where as many requests are at work as may be, an init is not refused.
func TestInitWaitsForRoom(t *testing.T) {
	h := open(t, func(c *Config) { c.Limits.InFlight = 1 })
	r := h.enter(t, rpc.RoleSubmit)
	r.send(strings.Repeat(`{"jsonrpc":"2.0","id":1,"method":"init","params":{"projectRoot":"/p/one"}}`+"\n", 50))
	for range 50 {
		if m := r.answer(); m.Error != nil {
			t.Fatal(m.Error)
		}
	}
}

// TestInitIsBounded: the notifications of init count among the watches of a connection.
func TestInitIsBounded(t *testing.T) {
	h := openWeb(t, func(c *Config) { c.Limits.Watches = 1 })
	p := h.begin(t, rpc.RoleSubmit)
	p.call("init", `{"projectRoot":"/p/one"}`)
	if m := p.call("init", `{"projectRoot":"/p/two"}`); m["error"] != nil {
		t.Errorf("another init: %v", m)
	}
	if m := p.call("journal/watch", `{}`); m["error"] == nil {
		t.Errorf("a second watch: %v", m)
	}
}

// TestFollowStates: who follows by package client is told what changed, of one project.
func TestFollowStates(t *testing.T) {
	h := open(t, nil)
	h.store.seed()
	var seen []string
	err := h.client(t).FollowStates(t.Context(), rpc.Init{ProjectRoot: "/p/one"}, func(x client.Told) error {
		switch {
		case x.Begun != nil:
			seen = append(seen, "begun "+x.Begun.Name)
			h.store.commit(noteRow(sdk.KindTurnOpened, `{}`), noteRow(sdk.KindNoteRetry, `{"message":"again"}`), noteRow(sdk.KindNoteProgress, `{"message":"half"}`),
				entryRow(7, 1, waitsPath, sdk.StateProposed, "", sdk.PhaseRecorded, "", ""),
				entryRow(7, 1, actionPath, sdk.StateCancelled, sdk.Aborted, sdk.PhaseEnded, "", ""), noteRow(sdk.KindLoopEnded, `{"status":499}`))
		case x.Progress != nil:
			seen = append(seen, x.Progress.Status)
		case x.Notify != nil:
			seen = append(seen, x.Notify.Text)
		case x.Render != nil:
			seen = append(seen, x.Render.Text)
		case x.Proposal != nil:
			seen = append(seen, x.Proposal.Proposed[0].Path)
		case x.Cancelled != nil:
			seen = append(seen, x.Cancelled.Reason)
		case x.State != nil:
			seen = append(seen, fmt.Sprint(x.State.Status, " ", len(x.State.History)))
			return client.ErrDone
		}
		return nil
	})
	if got, want := strings.Join(seen, ", "), "begun one, thinking, retrying, again, half, "+waitsPath+", aborted, 499 2"; err != nil || got != want {
		t.Errorf("told %s, %v; want %s", got, err, want)
	}
	if err := h.client(t).FollowStates(context.Background(), rpc.Init{ProjectRoot: "/p/none"}, nil); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("a project that is not there: %v", err)
	}
}

// TestAnswerByStateInAnotherProject: an answer by a state goes to the run that it names, also where the project of the
// connection has a run whose alias is the id of that one.
func TestAnswerByStateInAnotherProject(t *testing.T) {
	policy := &fakePolicy{open: []sdk.Proposal{{ID: "1a2b3c4d", Hash: "h8", Run: 8, Project: "/p/two", Path: waits, State: sdk.StateProposed}}}
	h := openWeb(t, func(c *Config) { c.Policy = policy })
	h.store.entries = []sdk.Entry{proposedAction(8, waits, "h8")}
	p := h.begin(t, rpc.RoleApprove)
	p.call("init", `{"projectRoot":"/p/one"}`)
	p.call("proposals/list", `{"project":"/p/two"}`)
	if m := p.call("set", `{"project":"/p/two","run":"seven","path":"`+waits+`","state":"resolved"}`); m["error"] != nil {
		t.Errorf("the answer: %v", m)
	}
	if len(policy.resolved) != 1 || policy.resolved[0].Hash != "h8" {
		t.Errorf("answered was %+v", policy.resolved)
	}
}
