package engine

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// planFile is a plan of steps with these texts.
func planFile(steps ...string) *rpc.PlanFile {
	return &rpc.PlanFile{File: "/home/p/release.yaml", Text: "goal: Release it\ninstructions:\n- " + strings.Join(steps, "\n- ") + "\n"}
}

// follow gives a plan to the run r, in the agent reader, which has no tool of the name plan.
func (h *house) follow(p *rpc.PlanFile) (Accepted, error) {
	return h.engine.Submit(h.t.Context(), Submission{Project: h.project, Run: "r", Agent: "reader", Plan: p, Key: "k" + fmt.Sprint(len(h.models.asked()))})
}

// steps are the run's plan, a word for each step.
func (h *house) steps(run int64) (all string) {
	h.t.Helper()
	for _, s := range sdk.PlanOf(h.entries(run, "plan://")) {
		all += fmt.Sprintf("%d %s %s;", s.Number, s.Text, s.Status)
	}
	return all
}

func mark(arguments string) step { return calls(call{sdk.ToolPlan, arguments}) }

// TestPlan: a plan is a prompt, its steps are entries of the run, and what the model marks is seen there and by it.
func TestPlan(t *testing.T) {
	h := prepareHouse(t,
		mark(`{"steps":[{"number":2,"status":"doing"}]}`), mark(`{"steps":[{"number":2,"status":"done"},{"number":1,"status":"done"}]}`), mark(`{"steps":[{"text":"Tell people"}]}`))
	h.withSkills()
	h.start()
	p := planFile("Test", "Tag", "Push")
	p.From = 2
	a, err := h.follow(p)
	if err != nil {
		t.Fatal(err)
	}
	l := h.await(a)
	if l.Status != 200 || l.Prompt != "Follow the plan release.yaml: Release it" {
		t.Errorf("%+v", l)
	}
	if got := h.steps(a.Run.ID); got != "1 Test not_asked;2 Tag doing;3 Push open;4 Tell people open;" {
		t.Errorf("the steps are %s", got)
	}
	first := h.models.asked()[0]
	if text := first.Messages[len(first.Messages)-1].Text; !strings.Contains(text, "GOAL: Release it\n") || !strings.Contains(text, "1. (not asked for) Test\n2. Tag\n") {
		t.Errorf("the model is told %q", text)
	}
	if first.Tools[0].Name != sdk.ToolPlan || !strings.Contains(first.Messages[0].Text, "This run has a plan") {
		t.Errorf("the model is offered %q and told %q", first.Tools[0].Name, first.Messages[0].Text)
	}
	last := h.models.asked()[3]
	if text := last.Messages[len(last.Messages)-1].Text; text != "Completed 0/3 steps:\n- 1. Test (not asked for)\n⧗ 2. Tag (in progress)\n○ 3. Push\n○ 4. Tell people" {
		t.Errorf("the model is told %q", text)
	}
	if got := h.outcomes(a.Run.ID); got != "plan:resolved plan:failed:permission plan:resolved" {
		t.Errorf("the actions are %s", got)
	}

	b, err := h.follow(planFile("Build"))
	if err != nil {
		t.Fatal(err)
	}
	h.await(b)
	if got := h.steps(a.Run.ID); got != "1 Build open;" {
		t.Errorf("another plan's steps are %s", got)
	}
	h.check(a.Run.ID)
}

// TestPlanIsRefused: what cannot be followed makes no run and no step.
func TestPlanIsRefused(t *testing.T) {
	begun := make(chan struct{}, 1)
	h := newHouse(t, hanging(begun))
	for _, c := range []struct {
		s    Submission
		says string
	}{
		{Submission{Plan: planFile("a"), Prompt: "and this"}, "a plan stands in the place of the prompt"},
		{Submission{Plan: &rpc.PlanFile{File: "p.txt", Text: "x"}}, "the ending .txt is none of a plan"},
		{Submission{Plan: &rpc.PlanFile{File: "p.yaml", Text: "goal: x\n"}}, "the plan has no steps"},
		{Submission{Plan: &rpc.PlanFile{File: "p.yaml", Text: "goal: x\ninstructions: [a]\n", Until: 2}}, "the plan has the steps 1 to 1"},
	} {
		c.s.Project, c.s.Run = h.project, "none"
		_, err := h.engine.Submit(t.Context(), c.s)
		wants(t, err, sdk.Validation, c.says)
	}
	if runs, err := h.store.Runs(t.Context(), sdk.RunFilter{}); err != nil || len(runs) != 0 {
		t.Errorf("there are runs: %v, %v", runs, err)
	}
	a, err := h.follow(planFile("a"))
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	_, err = h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "r", Plan: planFile("b")})
	wants(t, err, sdk.Conflict, "the run r is at work")
	again, err := h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "r", Agent: "reader", Plan: planFile("a"), Key: "k0"})
	if err != nil || again.Loop.ID != a.Loop.ID {
		t.Errorf("the plan given again is %+v, %v", again.Loop, err)
	}
	_, err = h.engine.Submit(t.Context(), Submission{Project: h.project, Run: "r", Plan: planFile("b"), Key: "k0"})
	wants(t, err, sdk.Conflict, "another prompt was given under the key")
	if got := h.steps(a.Run.ID); got != "1 a open;" {
		t.Errorf("the steps are %s", got)
	}
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
}

// TestPlanAfterARestart: the marks are there, for the loop that is taken up and for the one that resumes it.
func TestPlanAfterARestart(t *testing.T) {
	begun, again := make(chan struct{}, 1), make(chan struct{}, 1)
	h := prepareHouse(t, mark(`{"steps":[{"number":1,"status":"done"}]}`), hanging(begun), hanging(again), say("all done"))
	h.withSkills()
	h.start()
	a, err := h.follow(planFile("Test", "Tag"))
	if err != nil {
		t.Fatal(err)
	}
	<-begun
	h.cut()
	h.start()
	<-again
	const marked = "Completed 1/2 steps:\n✓ 1. Test\n○ 2. Tag"
	up := h.models.asked()[2]
	if text := up.Messages[len(up.Messages)-1].Text; text != marked {
		t.Errorf("what was taken up is told %q", text)
	}
	if err := h.engine.Abort(t.Context(), a.Run.ID); err != nil {
		t.Fatal(err)
	}
	resumed, err := h.engine.Resume(t.Context(), a.Run.ID)
	if err != nil {
		t.Fatal(err)
	}
	l := h.await(resumed)
	on := h.models.asked()[3]
	if text := on.Messages[len(on.Messages)-1].Text; text != l.Prompt+"\n\nThe plan as it is now:\n"+marked {
		t.Errorf("what resumes is told %q", text)
	}
	if got := h.steps(a.Run.ID); got != "1 Test done;2 Tag open;" {
		t.Errorf("the steps are %s", got)
	}
	h.check(a.Run.ID)
}

// TestStepsOfWorkThatWasStopped: no step stays in progress at which nobody is any more, and one that the model left so does.
func TestStepsOfWorkThatWasStopped(t *testing.T) {
	doing := mark(`{"steps":[{"number":1,"status":"done"},{"number":2,"status":"doing","note":"half of it"}]}`)
	begun := make(chan struct{}, 1)
	abort := func(h *askingHouse, a Accepted) {
		<-begun
		if err := h.engine.Abort(h.t.Context(), a.Run.ID); err != nil {
			h.t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		next step
		ends func(h *askingHouse, a Accepted)
		stop string
		want sdk.PlanStatus
	}{
		"an answer": {say("go on?"), func(*askingHouse, Accepted) {}, sdk.StopAnswer, sdk.PlanDoing},
		"an abort":  {hanging(begun), abort, sdk.StopAborted, sdk.PlanOpen},
		"an abort after a restart": {hanging(begun), func(h *askingHouse, a Accepted) {
			<-begun
			h.cut()
			h.start()
			abort(h, a)
		}, sdk.StopAborted, sdk.PlanOpen},
		"a guard":     {calls(call{"read", `{}`}), func(*askingHouse, Accepted) {}, sdk.GuardMaxTurns, sdk.PlanOpen},
		"a failure":   {failing(sdk.Errorf(sdk.Internal, "no answer today")), func(*askingHouse, Accepted) {}, sdk.StopFailed, sdk.PlanOpen},
		"a rejection": {calls(numbered("write", 1)), func(h *askingHouse, _ Accepted) { h.answer(h.proposed(), sdk.Reject) }, sdk.StopRejected, sdk.PlanOpen},
	} {
		t.Run(name, func(t *testing.T) {
			h := prepareAsking(t, doing, c.next, hanging(begun))
			h.withSkills()
			h.agents["reader"] = sdk.Agent{Mode: sdk.ModeInteractive, Guards: sdk.Guards{MaxTurns: 2}}
			h.start()
			a, err := h.follow(planFile("Test", "Tag"))
			if err != nil {
				t.Fatal(err)
			}
			c.ends(h, a)
			if l := h.await(a); l.Stop != c.stop {
				t.Fatalf("%+v", l)
			}
			if got, want := h.steps(a.Run.ID), "1 Test done;2 Tag "+string(c.want)+";"; got != want {
				t.Errorf("the steps are %s", got)
			}
			if got := h.teamSteps(a.Run.ID)[1]; !strings.HasSuffix(got, ": half of it") {
				t.Errorf("it says %s", got)
			}
			h.check(a.Run.ID)
		})
	}
}

// TestRecoveryOfAPlan: a call whose steps were written before the daemon died is made again, and adds nothing twice.
func TestRecoveryOfAPlan(t *testing.T) {
	arguments := `{"steps":[{"number":1,"status":"done"},{"text":"b"}]}`
	text, body, added := "I mark.", "a", "b"
	r := newRuin(t)
	r.withSkills()
	r.opened()
	reply := sdk.Reply{Model: "fake/m", Finish: "calls", Calls: []sdk.Call{{ID: "id0", Tool: sdk.ToolPlan, Arguments: arguments}}}
	started := at(0, sdk.ToolPlan, sdk.PhaseStarted, sdk.StateStreaming, "")
	started.Attributes = encode(sdk.ActionCall{CallID: "id0", Tool: sdk.ToolPlan, Plugin: "bothy", Arguments: json.RawMessage(arguments)})
	r.left(sdk.Change{Writes: []sdk.Write{
		{Path: "plan://1", Body: &body, Attributes: json.RawMessage(`{"status":"done"}`)},
		{Path: "assistant://1", Body: &text, Attributes: encode(reply)}, started,
		{Path: "plan://2", Body: &added, Attributes: json.RawMessage(`{"status":"open"}`)},
	}})
	r.start()
	r.await(Accepted{Run: r.run, Loop: r.loops[0]})
	r.await(Accepted{Run: r.run, Loop: r.loops[1]})
	if got, acted := r.steps(r.run.ID), r.outcomes(r.run.ID); got != "1 a done;2 b open;" || acted != "plan:resolved" {
		t.Errorf("the steps are %s, the actions %s", got, acted)
	}
}
