package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// planning has the planner of a team do this, and everybody else answer.
func planning(plan func(r sdk.Request) step) func(sdk.Request) step {
	return func(r sdk.Request) step {
		if slices.Contains(toolNames(r), sdk.ToolCreatePlan) {
			return plan(r)
		}
		return say("done with " + first(r))
	}
}

// TestRoutedInFull: who gets a prompt without a plan of the model's knows nothing of the run, and is told all that it
// means: the plan that a person gave, and the prompt that is gone on with.
func TestRoutedInFull(t *testing.T) {
	h := teamHouse(t, sdk.TeamParallel, nil, nil)
	begun := make(chan struct{}, 1)
	h.models.each = planning(func(r sdk.Request) step {
		if len(h.models.asked()) == 1 {
			return hanging(begun)
		}
		return say("I would ask the writer")
	})
	h.start()
	a, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Agent: "team", Plan: &rpc.PlanFile{File: "p.yaml", Text: "goal: Release it\ninstructions:\n- Test\n- Write docs\n"}})
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	h.await(a)
	a, err = h.engine.Resume(t.Context(), a.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	if l := h.await(a); l.Stop != sdk.StopAnswer {
		t.Fatalf("%+v", l)
	}
	tasks := h.tasks(a.Run.ID)
	if len(tasks) != 1 || !strings.HasPrefix(tasks[0], "writer: Follow the plan p.yaml: Release it\n\n") {
		t.Fatalf("the tasks are %q", tasks)
	}
	asked := h.models.asked()[2].Messages // of the team are the plans, and what puts together
	read := asked[len(asked)-1].Text
	at := 0
	for _, part := range []string{"GOAL: Release it", "1. Test\n2. Write docs\n", "\n\nGo on with the prompt before this one", "The plan as it is now:\nCompleted 0/2 steps"} {
		found := strings.Index(read[at:], part)
		if found < 0 {
			t.Fatalf("%q does not come in %q", part, read)
		}
		at += found
	}
}

// TestTasksDoNotBuildOnEachOther: where one task of a team comes to nothing, the others are given out all the same, and so
// are those of a second call. What a person rejects ends the work.
func TestTasksDoNotBuildOnEachOther(t *testing.T) {
	for name, c := range map[string]struct {
		b     step
		stop  string
		tasks int
	}{
		"fails":    {failing(sdk.Errorf(sdk.Internal, "broken")), sdk.StopAnswer, 6},
		"rejected": {calls(numbered("write", 1)), sdk.StopRejected, 4},
	} {
		t.Run(name, func(t *testing.T) {
			h := asksIn(teamHouse(t, sdk.TeamParallel, nil, nil))
			h.access.found(sdk.Prepared{View: true})
			all := planning(func(sdk.Request) step {
				more := assigning("writer", "d", "coder", "e", "coder", "A", "writer", "f")
				more.tool = sdk.OwnPlugin + "__" + more.tool
				return calls(assigning("coder", "a", "writer", "b", "coder", "c"), more)
			})
			h.models.each = func(r sdk.Request) step {
				if first(r) == "b" {
					return c.b
				}
				return all(r)
			}
			h.start()
			a := h.submit(Submission{Agent: "team", Prompt: "do it", Mode: sdk.ModeInteractive})
			if c.stop == sdk.StopRejected {
				p := h.proposed()
				h.resolve(rpc.Resolve{ID: p.ID, Hash: p.Hash, Answer: sdk.Reject})
			}
			if l := h.await(a); l.Stop != c.stop {
				t.Fatalf("%+v", l)
			}
			if tasks := h.tasks(a.Run.ID); len(tasks) != c.tasks {
				t.Errorf("the tasks are %q, and the plan %q", tasks, h.teamSteps(a.Run.ID))
			}
			h.check(a.Run.ID)
		})
	}
}

// TestTeamThatCouldAskNobody: a team is not asked from where its own tasks would be too far below the prompt of a person.
func TestTeamThatCouldAskNobody(t *testing.T) {
	h := teamHouse(t, sdk.TeamParallel, nil, nil)
	guards := h.agents["default"].Guards
	h.agents["lead"] = sdk.Agent{Agents: []string{"worker"}, Mode: sdk.ModeRestricted, Guards: guards}
	h.agents["worker"] = sdk.Agent{Agents: []string{"team", "coder"}, Mode: sdk.ModeRestricted, Guards: guards}
	var offered string
	h.models.each = func(r sdk.Request) step {
		switch at := first(r); {
		case len(r.Messages) > 2:
		case at == "lead it":
			return calls(giving("worker", "work"))
		case at == "work":
			offered = string(r.Tools[slices.Index(toolNames(r), sdk.ToolDelegate)].Parameters)
			return calls(giving("team", "do it all"))
		}
		return say("done")
	}
	h.start()
	a := h.submit(Submission{Agent: "lead", Prompt: "lead it"})
	if l := h.await(a); l.Stop != sdk.StopAnswer {
		t.Fatalf("%+v", l)
	}
	if !strings.Contains(offered, `"coder"`) || strings.Contains(offered, `"team"`) {
		t.Errorf("offered was %s", offered)
	}
	worker := h.childrenIn(a.Run.ID)[0]
	if all := h.actions(worker.ID); len(h.childrenIn(worker.ID)) > 0 || !strings.Contains(all[0].Body, `the team "team" could give nothing out here`) {
		t.Errorf("%+v", all)
	}
}
