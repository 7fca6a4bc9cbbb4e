package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/cassette"
)

// TestAnyCrashOfDelegations has loops delegate, and their children too, and kills the daemon at random writes, those of
// its recoveries included. No child is lost and none doubled, nothing that a child did is done twice, and what children
// answered is what their calls came to.
func TestAnyCrashOfDelegations(t *testing.T) {
	h := delegatingHouse(t, nil)
	inner := h.store.Store
	n := 0
	rapid.Check(t, func(rt *rapid.T) {
		var marks effects
		marks.on(h.tools, rapid.Bool().Draw(rt, "the tools know"))
		n++
		prompt := fmt.Sprintf("p%d", n)
		h.plays(anyDelegations(rt, prompt))
		var accepted []Accepted
		for range rapid.IntRange(1, 4).Draw(rt, "deaths") {
			m := newMortalStore(inner, rapid.IntRange(0, 30).Draw(rt, "writes"), rapid.Bool().Draw(rt, "silent"))
			h.config.Store = m
			h.boot(rt)
			if len(accepted) == 0 {
				if a, err := h.engine.Submit(context.Background(), Submission{Project: h.project, Run: prompt, Agent: "lead", Prompt: prompt, Record: true}); err == nil {
					accepted = append(accepted, a)
				}
			}
			h.untilDeadOrDone(m, accepted)
			h.cut()
		}
		h.config.Store = h.store
		h.boot(rt)
		defer h.cut()
		h.untilIdle()
		run, err := inner.RunByAlias(context.Background(), 1, prompt)
		if err != nil {
			return // death came before the run was made
		}
		h.checkAccepted(rt, run.ID, accepted)
		tree := []sdk.Run{run}
		for i := 0; i < len(tree); i++ {
			tree = append(tree, h.checkChildren(rt, tree[i])...)
		}
		h.checkTree(rt, tree, &marks)
		if loops, err := inner.Loops(context.Background(), run.ID); err == nil && len(loops) > 0 && well(loops[0]) {
			h.checkTape(rt, run, h.tapeOf(rt, run))
		}
		if t.Failed() {
			rt.FailNow()
		}
	})
	h.check()
}

// anyDelegations are the steps of a prompt that delegates and of all tasks below it.
func anyDelegations(rt *rapid.T, prompt string) map[string][]step {
	steps := map[string][]step{}
	var of func(prompt string, depth int)
	of = func(prompt string, depth int) {
		var all []step
		for turn := range rapid.IntRange(1, 2).Draw(rt, "turns") {
			var cs []call
			for i := range rapid.IntRange(1, 3).Draw(rt, "calls") {
				if depth < 2 && rapid.Bool().Draw(rt, "delegates") {
					task := fmt.Sprintf("%s.%d.%d", prompt, turn, i)
					cs = append(cs, giving("lead", task))
					of(task, depth+1)
				} else {
					cs = append(cs, numbered(rapid.SampledFrom([]string{"read", "write"}).Draw(rt, "tool"), 10*turn+i))
				}
			}
			all = append(all, calls(cs...))
		}
		steps[prompt] = append(all, say("did "+prompt))
	}
	of(prompt, 0)
	return steps
}

// checkChildren holds the children of a run against the calls that began them.
func (h *house) checkChildren(t *rapid.T, run sdk.Run) []sdk.Run {
	children := h.childrenIn(run.ID)
	by := map[string]sdk.Run{}
	for _, child := range children {
		if _, twice := by[child.DelegatedBy]; twice {
			t.Fatalf("%s has two children", child.DelegatedBy)
		}
		by[child.DelegatedBy] = child
	}
	for _, e := range h.actions(run.ID) {
		at, err := sdk.ActionOf(e)
		if err != nil {
			t.Fatal(err)
		}
		child, made := by[e.Path]
		if delete(by, e.Path); made != (at.Child != nil) || made && at.Child.Run != child.ID {
			t.Fatalf("%s has the child %+v, and there is %+v", e.Path, at.Child, child)
		}
		if !made {
			continue
		}
		l := h.promptOf(child.ID)
		var task struct{ Task string }
		if err := json.Unmarshal(at.Arguments, &task); err != nil || l.Prompt != task.Task || isOpen(l) {
			t.Fatalf("%s began %+v, %v", e.Path, l, err)
		}
		if well(l) != (e.State == sdk.StateResolved) {
			t.Fatalf("%s is %s %s, and its child ended with %d %s: %s", e.Path, e.State, e.Outcome, l.Status, l.Stop, l.Reason)
		}
	}
	if len(by) > 0 {
		t.Fatalf("children without a call: %v", by)
	}
	return children
}

// tapeOf is the cassette of a run's first prompt.
func (h *house) tapeOf(t *rapid.T, run sdk.Run) *cassette.Cassette {
	piece, err := h.engine.Cassette(context.Background(), run.ID, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := cassette.Read(strings.NewReader(piece.Text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// checkTape compares what is recorded of the prompts of a tree with the runs: each turn has a step, and each child that
// ended well is with the call that began it.
func (h *house) checkTape(t *rapid.T, run sdk.Run, c *cassette.Cassette) {
	l := h.promptOf(run.ID)
	turns, err := h.store.Turns(context.Background(), run.ID)
	turns = which(turns, func(t sdk.Turn) bool { return t.Loop == l.ID })
	if err != nil || len(turns) != len(c.Steps) {
		t.Fatalf("%s had %d turns, and %d steps are recorded: %v", run.Alias, len(turns), len(c.Steps), err)
	}
	children := h.childrenIn(run.ID)
	for _, e := range h.actions(run.ID) {
		at, err := sdk.ActionOf(e)
		if err != nil {
			t.Fatal(err)
		}
		if at.Loop != l.ID { // who did not hear that the prompt was taken gave it again
			continue
		}
		step := slices.IndexFunc(turns, func(row sdk.Turn) bool { return row.Sequence == at.Turn })
		tape := c.ChildOf(step, at.Index)
		i := slices.IndexFunc(children, func(r sdk.Run) bool { return r.DelegatedBy == e.Path })
		switch {
		case i < 0 && tape != nil:
			t.Fatalf("%s of %s began nothing, and is recorded with a child", e.Path, run.Alias)
		case i < 0 || !well(h.promptOf(children[i].ID)):
		case tape == nil:
			t.Fatalf("%s of %s began %s, of which nothing is recorded", e.Path, run.Alias, children[i].Alias)
		default:
			h.checkTape(t, children[i], tape)
		}
	}
}

// checkTree compares what the runs recorded with what their tools really did.
func (h *house) checkTree(t *rapid.T, tree []sdk.Run, marks *effects) {
	recorded := 0
	for _, run := range tree {
		h.checkRuns(run.ID)
		for _, e := range h.actions(run.ID) {
			at := attributes(t, e)
			did := marks.of(sdk.Invocation{CallID: fmt.Sprintf("%s-%d-%d", run.Key, sdk.TurnOf(e.Path), at.Index)})
			if did > 0 {
				recorded++
			}
			if at.Tool == "write" && (did > 1 || did == 0 && e.State == sdk.StateResolved) {
				t.Fatalf("%s of %s is %s and was made %d times", e.Path, run.Alias, e.State, did)
			}
		}
	}
	if recorded != len(marks.done) {
		t.Fatalf("%d calls had an effect, %d of them are recorded", len(marks.done), recorded)
	}
}
