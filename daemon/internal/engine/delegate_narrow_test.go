package engine

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// narrowHouse is one in which a person is asked, and lead may delegate.
func narrowHouse(t testing.TB, steps map[string][]step) *askingHouse {
	h := asksIn(delegatingHouse(t, steps))
	h.access.found(sdk.Prepared{View: true})
	return h
}

// TestAChildMayNoMore: what a child may is the stricter of what its agent and what its caller may.
func TestAChildMayNoMore(t *testing.T) {
	yes := true
	with := func(writes string) call {
		return call{sdk.ToolDelegate, `{"agent":"worker","task":"below","writes":` + writes + `}`}
	}
	for name, c := range map[string]struct {
		lead, worker sdk.Agent
		gives        Submission
		call         call
		mode         sdk.Mode
		readOnly     bool
		noView       bool
		run          sdk.Run
		otherwise    sdk.Mode
	}{
		"the caller's mode":              {lead: sdk.Agent{Mode: sdk.ModeInteractive}, worker: sdk.Agent{Mode: sdk.ModeFull}, mode: sdk.ModeInteractive},
		"its own":                        {lead: sdk.Agent{Mode: sdk.ModeWorkspace}, worker: sdk.Agent{Mode: sdk.ModeInteractive}, mode: sdk.ModeInteractive},
		"none of its own":                {lead: sdk.Agent{Mode: sdk.ModeWorkspace}, mode: sdk.ModeWorkspace},
		"full of the prompt alone":       {lead: sdk.Agent{Mode: sdk.ModeRestricted}, worker: sdk.Agent{Mode: sdk.ModeRestricted}, gives: Submission{Mode: sdk.ModeFull}, mode: sdk.ModeRestricted},
		"in the place of workspace":      {lead: sdk.Agent{Mode: sdk.ModeWorkspace, WithoutView: sdk.ModeInteractive}, worker: sdk.Agent{WithoutView: sdk.ModeRestricted}, mode: sdk.ModeWorkspace, otherwise: sdk.ModeInteractive},
		"between the two without a copy": {lead: sdk.Agent{Mode: sdk.ModeWorkspace, WithoutView: sdk.ModeInteractive}, worker: sdk.Agent{Mode: sdk.ModeRestricted}, noView: true, mode: sdk.ModeInteractive},
		"between the two on a copy":      {lead: sdk.Agent{Mode: sdk.ModeWorkspace, WithoutView: sdk.ModeInteractive}, worker: sdk.Agent{Mode: sdk.ModeRestricted}, mode: sdk.ModeRestricted},
		"a prompt that reads":            {lead: sdk.Agent{Mode: sdk.ModeRestricted}, gives: Submission{ReadOnly: true}, mode: sdk.ModeRestricted, readOnly: true},
		"no path":                        {lead: sdk.Agent{Mode: sdk.ModeRestricted}, call: with(`[]`), mode: sdk.ModeRestricted, readOnly: true, run: sdk.Run{Writes: []string{}}},
		"some paths":                     {lead: sdk.Agent{Mode: sdk.ModeRestricted}, call: with(`["src/**"]`), mode: sdk.ModeRestricted, run: sdk.Run{Writes: []string{"src/**"}}},
		"a channel's":                    {lead: sdk.Agent{Mode: sdk.ModeRestricted}, gives: Submission{Origin: chat}, mode: sdk.ModeRestricted, run: sdk.Run{Private: true, Origin: chat}},
		"what the run was made without":  {lead: sdk.Agent{Mode: sdk.ModeRestricted}, gives: Submission{Options: rpc.RunOptions{NoWeb: &yes, NoProposals: &yes, NoMemory: &yes}}, mode: sdk.ModeRestricted, run: sdk.Run{RunConfig: sdk.RunConfig{NoWeb: true, NoProposals: true, NoMemory: true}}},
	} {
		t.Run(name, func(t *testing.T) {
			if c.call.tool == "" {
				c.call = giving("worker", "below")
			}
			h := narrowHouse(t, map[string][]step{"do it": {calls(c.call)}, "below": {calls(numbered("read", 1))}})
			c.lead.Agents = []string{"worker"}
			h.agents["lead"], h.agents["worker"] = c.lead, c.worker
			if c.noView {
				h.access.found(sdk.Prepared{Reason: "there is none"})
			}
			h.start()
			c.gives.Agent, c.gives.Run = "lead", "r"
			a := h.submit(c.gives)
			h.await(a)
			children := h.childrenIn(a.Run.ID)
			if len(children) != 1 {
				t.Fatalf("the call came to %s", h.actions(a.Run.ID)[0].Body)
			}
			child := children[0]
			l := h.promptOf(child.ID)
			if o := optionsOf(l); o.Mode != c.mode || l.ReadOnly != c.readOnly || c.otherwise != "" && o.Otherwise != c.otherwise {
				t.Errorf("the child has %+v, only reads: %t", o, l.ReadOnly)
			}
			if child.Private != c.run.Private || child.NoWeb != c.run.NoWeb || child.NoProposals != c.run.NoProposals || child.NoMemory != c.run.NoMemory || string(encode(child.Writes)) != string(encode(c.run.Writes)) {
				t.Errorf("the child is %+v", child)
			}
			for _, asked := range h.policy.all() {
				if asked.Tool.Name == "read" && (asked.Mode != c.mode || asked.ReadOnly != c.readOnly || c.otherwise != "" && asked.Otherwise != c.otherwise) {
					t.Errorf("policy was asked %+v", asked)
				}
			}
			h.check(a.Run.ID, child.ID)
		})
	}
}

// TestAResumedChild: what goes on with the prompt of a child asks where that would have asked.
func TestAResumedChild(t *testing.T) {
	h := narrowHouse(t, map[string][]step{"do it": {calls(giving("worker", "below")), say("so it is")}, "below": {calls(numbered("read", 1)), say("done")}})
	h.agents["lead"] = sdk.Agent{Mode: sdk.ModeWorkspace, WithoutView: sdk.ModeInteractive, Agents: []string{"worker"}}
	h.agents["worker"] = sdk.Agent{Guards: sdk.Guards{MaxTurns: 1}}
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	h.await(a)
	child := h.childrenIn(a.Run.ID)[0]
	again, err := h.engine.Resume(t.Context(), child.ID)
	if o := optionsOf(again.Loop); err != nil || o.Mode != sdk.ModeWorkspace || o.Otherwise != sdk.ModeInteractive {
		t.Errorf("it has %+v, %v", o, err)
	}
	h.untilIdle()
}

// TestRejectionInAChild: a call of a child that a person rejects without a word ends the parent's loop as one of its own
// would; one with a reason is the child's to go on by.
func TestRejectionInAChild(t *testing.T) {
	for _, reason := range []string{"", "not there"} {
		t.Run("reason "+reason, func(t *testing.T) {
			h := narrowHouse(t, map[string][]step{"do it": {calls(giving("worker", "below")), say("all is done")}, "below": {calls(numbered("write", 1)), say("went another way")}})
			h.agents["worker"] = sdk.Agent{Mode: sdk.ModeInteractive}
			h.start()
			a := h.submit(Submission{Agent: "lead"})
			p := h.proposed()
			h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Reject, Reason: reason})
			l := h.await(a)
			call, err := sdk.ActionOf(h.actions(a.Run.ID)[0])
			if err != nil {
				t.Fatal(err)
			}
			if reason != "" {
				if l.Stop != sdk.StopAnswer || call.Body != "went another way" {
					t.Errorf("the loop ended with %s, and the call with %s", l.Stop, call.Body)
				}
				return
			}
			if l.Stop != sdk.StopRejected || l.Status != sdk.StatusOK || !call.Rejected() || call.Outcome != sdk.Permission || !strings.Contains(call.Body, "a person rejected") {
				t.Errorf("the loop ended with %d %s, and the call with %s: %s", l.Status, l.Stop, call.Outcome, call.Body)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestResultOfAChild: what an agent hands over is the result of the call that delegated to it, as it was handed over; the
// gates hold for a child as for anybody.
func TestResultOfAChild(t *testing.T) {
	h := delegatingHouse(t, map[string][]step{"do it": {calls(giving("worker", "below"))}, "below": {
		calls(handOver(goodResult)), calls(numbered("read", 1)), calls(handOver(`{"summary":7}`)), calls(handOver(goodResult)),
	}})
	worker := h.agents["worker"]
	worker.Finish = &sdk.FinishSpec{Schema: json.RawMessage(resultSchema)}
	worker.Guards.ConsecutiveErrors = 0
	h.agents["worker"] = worker
	h.config.Results.Done = h.done
	told := make(chan string, 2) // the child's, and its caller's
	h.hooks.LoopCompleted.On(10, "t", func(_ context.Context, e sdk.LoopEvent) error {
		told <- string(e.Loop.Result)
		return nil
	})
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	h.await(a)
	call, err := sdk.ActionOf(h.actions(a.Run.ID)[0])
	if err != nil || call.State != sdk.StateResolved {
		t.Fatal(call, err)
	}
	if string(call.Structured) != goodResult {
		t.Errorf("the result is %s, in the text %s", call.Structured, call.Body)
	}
	if got := []string{<-told, <-told}; !slices.Contains(got, goodResult) {
		t.Errorf("hooks were told the results %q", got)
	}
	h.check(a.Run.ID)
}

// TestNoNetwork: an agent without a network has no tool that reaches one, its commands have none, and neither have those
// whom it asks, to whom they delegate, and what goes on in their runs.
func TestNoNetwork(t *testing.T) {
	h := narrowHouse(t, map[string][]step{
		"do it": {calls(giving("worker", "below"))}, "below": {calls(giving("worker", "deepest"))}, "deepest": {calls(numbered("write", 1)), calls(numbered("fetch", 1))},
		"and now": {calls(numbered("write", 2))},
	})
	h.tools.specs = append(h.tools.specs, sdk.Tool{ToolSpec: sdk.ToolSpec{Name: "fetch", Annotations: sdk.Annotations{ReadOnly: true, OpenWorld: true}}, Plugin: "web", Pinned: true})
	h.access.set(func(r *sdk.Reach) { r.Network = true })
	h.agents["lead"] = sdk.Agent{Mode: sdk.ModeFull, Network: new(false), Agents: []string{"worker"}, Guards: h.agents["default"].Guards}
	h.agents["worker"] = sdk.Agent{Mode: sdk.ModeFull, Agents: []string{"worker"}, Guards: h.agents["default"].Guards}
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	h.await(a)
	child := h.childrenIn(a.Run.ID)[0]
	deepest := h.childrenIn(child.ID)[0]
	h.await(h.submit(Submission{Agent: "worker", Run: deepest.Alias, Prompt: "and now"}))
	if run, err := h.store.Run(t.Context(), a.Run.ID); err != nil || run.Offline || !child.Offline || !deepest.Offline {
		t.Errorf("of a prompt without a network the run is offline: %t, its child: %t, the child of that: %t; %v", run.Offline, child.Offline, deepest.Offline, err)
	}
	for _, made := range h.tools.made {
		if made.Network || made.Tool == "fetch" {
			t.Errorf("%s %s was made with the network: %t", made.Tool, made.Arguments, made.Network)
		}
	}
	if len(h.tools.made) != 2 {
		t.Errorf("%d calls were made", len(h.tools.made))
	}
	for _, asked := range h.policy.all() {
		if !asked.Offline {
			t.Errorf("policy was asked about %s as if there were a network", asked.Tool.Name)
		}
	}
	for _, r := range h.models.asked() {
		if slices.ContainsFunc(r.Tools, func(t sdk.ToolDef) bool { return t.Name == "fetch" }) {
			t.Error("a model was offered a tool that reaches a network")
		}
	}
	h.check(a.Run.ID, child.ID, deepest.ID)
}
