package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// byPrompt is a model that plays steps by the last prompt of a person or a caller that it is asked.
type byPrompt struct {
	mu    sync.Mutex
	steps map[string][]step
}

// plays has the house's model answer each prompt with steps of its own, and then "done".
func (h *house) plays(steps map[string][]step) {
	b := &byPrompt{steps: steps}
	h.models.each = b.next
}

func (b *byPrompt) next(req sdk.Request) step {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, m := range slices.Backward(req.Messages) {
		if left, is := b.steps[m.Text]; is && m.Role == sdk.RoleUser {
			if len(left) == 0 {
				return say("done with " + m.Text)
			}
			b.steps[m.Text] = left[1:]
			return left[0]
		}
	}
	return say("done")
}

// giving is a call that delegates a task to an agent.
func giving(agent, task string) call {
	text, _ := json.Marshal(map[string]any{"agent": agent, "task": task})
	return call{sdk.ToolDelegate, string(text)}
}

// delegatingHouse is a house whose agent lead may delegate to worker and to itself.
func delegatingHouse(t testing.TB, steps map[string][]step) *house {
	h := prepareHouse(t)
	h.withSkills()
	h.agents["lead"] = sdk.Agent{Agents: []string{"worker", "lead", "gone"}, Mode: sdk.ModeRestricted, Guards: h.agents["default"].Guards}
	h.agents["worker"] = sdk.Agent{Description: "does what it is told", Mode: sdk.ModeFull, Guards: h.agents["default"].Guards}
	h.plays(steps)
	return h
}

// childrenIn are the children of a run, in the order in which they were made.
func (h *house) childrenIn(run int64) []sdk.Run {
	h.t.Helper()
	all := h.everyRun()
	slices.Reverse(all)
	return slices.DeleteFunc(all, func(r sdk.Run) bool { return r.Delegator != run })
}

func (h *house) promptOf(run int64) sdk.Loop {
	h.t.Helper()
	loops, err := h.store.Loops(context.Background(), run)
	if err != nil || len(loops) == 0 {
		h.t.Fatal(loops, err)
	}
	return loops[0]
}

// TestDelegation: a call makes a run with the task as its prompt, in the commit that starts it, and what that
// answers is the call's result.
func TestDelegation(t *testing.T) {
	h := delegatingHouse(t, map[string][]step{
		"do it": {calls(giving("worker", "look at it"))}, "look at it": {calls(numbered("write", 1)), say("it is well")},
	})
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	if l := h.await(a); l.Status != sdk.StatusOK || l.Stop != sdk.StopAnswer {
		t.Fatalf("the loop ended with %+v", l)
	}
	children := h.childrenIn(a.Run.ID)
	if len(children) != 1 {
		t.Fatalf("there are %d children", len(children))
	}
	child, call := children[0], h.actions(a.Run.ID)[0]
	at, err := sdk.ActionOf(call)
	if err != nil {
		t.Fatal(err)
	}
	l := h.promptOf(child.ID)
	want := sdk.ActionChild{Run: child.ID, Alias: child.Alias, Loop: l.ID, Agent: "worker"}
	if at.Child == nil || *at.Child != want || at.State != sdk.StateResolved || at.Body != "it is well" {
		t.Errorf("the call is %s %q with the child %+v, want %+v", at.State, at.Body, at.Child, want)
	}
	if child.DelegatedBy != call.Path || child.Project != a.Run.Project || child.Agent != "worker" || l.Prompt != "look at it" {
		t.Errorf("the child is %+v with the prompt %q", child, l.Prompt)
	}
	if mode := optionsOf(l).Mode; mode != sdk.ModeRestricted {
		t.Errorf("the child's mode is %s, and its caller's restricted", mode)
	}
	if got := h.outcomes(child.ID); got != "write:resolved" {
		t.Errorf("the child did %s", got)
	}
	made := 0
	for _, c := range h.store.commits() {
		for _, begun := range c.Children {
			made++
			if !slices.ContainsFunc(c.Writes, func(w sdk.Write) bool { return w.Path == begun.Run.DelegatedBy && w.Phase == sdk.PhaseStarted }) {
				t.Error("a child was made by a commit that does not start its call")
			}
		}
	}
	if made != 1 {
		t.Errorf("%d children were made", made)
	}
	for _, req := range h.models.asked() {
		if offered := slices.ContainsFunc(req.Tools, func(d sdk.ToolDef) bool { return d.Name == sdk.ToolDelegate }); offered != (len(req.Messages) > 0 && has(req, "do it")) {
			t.Errorf("delegate is offered: %t, in %+v", offered, req.Messages)
		}
	}
	h.check(a.Run.ID, child.ID)
}

func has(req sdk.Request, text string) bool {
	return slices.ContainsFunc(req.Messages, func(m sdk.Message) bool { return m.Text == text })
}

// TestDelegationsTogether: four delegations of one answer are at work at the same time, a fifth after them.
func TestDelegationsTogether(t *testing.T) {
	begun, go_ := make(chan struct{}, 5), make(chan struct{})
	waits := func(ctx context.Context, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
		begun <- struct{}{}
		<-go_
		return say("done")(ctx, req, send, retry)
	}
	steps := map[string][]step{}
	var all []call
	for i := range 5 {
		task := fmt.Sprintf("task %d", i)
		all = append(all, giving("worker", task))
		steps[task] = []step{waits}
	}
	steps["do it"] = []step{calls(all...)}
	h := delegatingHouse(t, steps)
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	for range 4 {
		<-begun
	}
	if n := len(h.childrenIn(a.Run.ID)); n != 4 {
		t.Errorf("%d children are there while four are at work", n)
	}
	close(go_)
	h.await(a)
	if got := h.outcomes(a.Run.ID); got != strings.TrimSpace(strings.Repeat("delegate:resolved ", 5)) {
		t.Errorf("the calls came to %s", got)
	}
	for _, child := range h.childrenIn(a.Run.ID) {
		h.check(child.ID)
	}
	h.check(a.Run.ID)
}

// TestRefusedDelegations: calls of which there can be no child make none.
func TestRefusedDelegations(t *testing.T) {
	for name, c := range map[string]struct {
		call call
		says string
	}{
		"another agent": {giving("default", "x"), "may delegate to worker, lead, gone, and not to"},
		"no agent":      {giving("gone", "x"), "there is no agent"},
		"no task":       {giving("worker", " "), "the task is empty"},
		"a member more": {call{sdk.ToolDelegate, `{"agent":"worker","task":"x","mode":"full"}`}, "cannot be read"},
		"outside":       {call{sdk.ToolDelegate, `{"agent":"worker","task":"x","writes":["../a"]}`}, "leaves the project"},
	} {
		t.Run(name, func(t *testing.T) {
			h := delegatingHouse(t, map[string][]step{"do it": {calls(c.call)}})
			h.start()
			a := h.submit(Submission{Agent: "lead"})
			h.await(a)
			if all := h.actions(a.Run.ID); len(all) != 1 || all[0].State != sdk.StateFailed || !strings.Contains(all[0].Body, c.says) {
				t.Errorf("the call came to %+v", all)
			}
			if n := len(h.childrenIn(a.Run.ID)); n != 0 {
				t.Errorf("there are %d children", n)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestEndOfAChild: what ends the child is what the call came to.
func TestEndOfAChild(t *testing.T) {
	h := delegatingHouse(t, map[string][]step{
		"do it":    {calls(giving("short", "for ever"), numbered("write", 9)), calls(giving("failing", "fail"))},
		"for ever": {calls(numbered("read", 1)), calls(numbered("read", 2)), calls(numbered("read", 3))},
		"fail":     {failing(sdk.Errorf(sdk.Internal, "no answer today"))},
	})
	lead := h.agents["lead"]
	lead.Agents = []string{"short", "failing"}
	h.agents["lead"], h.agents["failing"] = lead, sdk.Agent{}
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	if l := h.await(a); l.Stop != sdk.StopAnswer {
		t.Errorf("the loop ended with %+v", l)
	}
	if got, want := h.outcomes(a.Run.ID), "delegate:failed:unfinished write:failed:aborted delegate:failed:unfinished"; got != want {
		t.Fatalf("got %s, want %s", got, want)
	}
	for i, says := range map[int]string{0: "(guard max_turns)", 2: "no answer today"} {
		if body := h.actions(a.Run.ID)[i].Body; !strings.Contains(body, says) {
			t.Errorf("call %d: %s", i, body)
		}
	}
	h.check(a.Run.ID)
}

// TestLastWordOfAChild: what the call says by which a child ends its work is what the call of its caller comes to.
func TestLastWordOfAChild(t *testing.T) {
	update := func(arguments string) call { return call{string(sdk.VerbUpdate), arguments} }
	for name, c := range map[string]struct {
		last  []call
		state sdk.State
		body  string
	}{
		"done":           {[]call{numbered("read", 1), update(`{"body":"it is 42","status":200}`)}, sdk.StateResolved, "it is 42"},
		"nothing":        {[]call{numbered("read", 1), update(`{"body":"","status":204}`)}, sdk.StateResolved, "worker ended its work without a word"},
		"cannot be done": {[]call{update(`{"body":"there is no such file","status":422}`)}, sdk.StateFailed, "there is no such file"},
		"by a plugin":    {[]call{numbered("read", 1), {"finish", `{}`}}, sdk.StateResolved, "finish {}"},
	} {
		t.Run(name, func(t *testing.T) {
			h := delegatingHouse(t, map[string][]step{"do it": {calls(giving("worker", "below"))}, "below": {calls(c.last...)}})
			h.withVerbs()
			worker := h.agents["worker"]
			worker.Tools = []string{"read*", "finish", "bothy__update"}
			h.agents["worker"] = worker
			h.start()
			a := h.submit(Submission{Agent: "lead"})
			h.await(a)
			if call := h.actions(a.Run.ID)[0]; call.State != c.state || !strings.HasSuffix(call.Body, c.body) {
				t.Errorf("the call is %s: %s", call.State, call.Body)
			}
			h.check(a.Run.ID, h.childrenIn(a.Run.ID)[0].ID)
		})
	}
}

// TestAbortCascades: a parent that is aborted ends its children, and theirs, and a child that is aborted alone is a
// call that failed.
func TestAbortCascades(t *testing.T) {
	begun := make(chan struct{}, 2)
	h := delegatingHouse(t, map[string][]step{
		"do it": {calls(giving("lead", "below"))}, "below": {calls(giving("worker", "deeper"))}, "deeper": {hanging(begun)},
		"alone": {calls(giving("worker", "by itself")), say("so be it")}, "by itself": {hanging(begun)},
	})
	h.start()
	a := h.submit(Submission{Agent: "lead"})
	<-begun
	child := h.childrenIn(a.Run.ID)[0]
	deeper := h.childrenIn(child.ID)[0]
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	for _, run := range []int64{a.Run.ID, child.ID, deeper.ID} {
		if l := h.promptOf(run); l.Status != sdk.StatusAborted || l.Stop != sdk.StopAborted {
			t.Errorf("the prompt of run %d is %+v", run, l)
		}
	}
	if got := h.outcomes(a.Run.ID); got != "delegate:cancelled:aborted" {
		t.Errorf("the call came to %s", got)
	}
	h.check(a.Run.ID, child.ID, deeper.ID)

	a = h.submit(Submission{Agent: "lead", Prompt: "alone"})
	<-begun
	if err := h.engine.Abort(t.Context(), h.childrenIn(a.Run.ID)[0].ID); err != nil {
		t.Fatal(err)
	}
	if l := h.await(a); l.Stop != sdk.StopAnswer {
		t.Errorf("the loop ended with %+v", l)
	}
	if got := h.outcomes(a.Run.ID); got != "delegate:failed:unfinished" {
		t.Errorf("the call came to %s", got)
	}
	h.check(a.Run.ID, h.childrenIn(a.Run.ID)[0].ID)
}

// TestDelegationGoesOn: a daemon that is stopped, or dies, while a child works leaves both, and the next one goes on
// with the child and then with its parent.
func TestDelegationGoesOn(t *testing.T) {
	for _, dies := range []bool{false, true} {
		t.Run(fmt.Sprint("dies ", dies), func(t *testing.T) {
			begun := make(chan struct{}, 1)
			h := delegatingHouse(t, map[string][]step{
				"do it": {calls(giving("worker", "first"), giving("worker", "second")), say("both")},
				"first": {hanging(begun), say("the first")}, "second": {say("the second")},
			})
			h.start()
			a := h.submit(Submission{Agent: "lead"})
			<-begun
			h.until("the second child has ended", func() bool {
				all := h.childrenIn(a.Run.ID)
				return len(all) == 2 && !isOpen(h.promptOf(all[1].ID))
			})
			if dies {
				h.cut()
			} else if err := h.engine.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			h.start()
			if l := h.await(a); l.Stop != sdk.StopAnswer {
				t.Errorf("the loop ended with %+v", l)
			}
			all := h.childrenIn(a.Run.ID)
			if len(all) != 2 {
				t.Fatalf("there are %d children", len(all))
			}
			for i, want := range []string{"the first", "the second"} {
				if got := h.actions(a.Run.ID)[i]; got.Body != want || got.State != sdk.StateResolved {
					t.Errorf("call %d is %s: %s", i, got.State, got.Body)
				}
			}
			h.check(a.Run.ID, all[0].ID, all[1].ID)
		})
	}
}
