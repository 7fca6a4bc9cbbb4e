package daemon

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Plans that people write, of which only a part is asked for, on daemons that die while their steps are marked.

// asks is the plan as a prompt of a client. A file has a step for each of the plan's, one before them and one behind them
// that are not asked for, and the plan as its context.
func (p plan) asks(project, run string) rpc.Prompt {
	ask := rpc.Prompt{Project: project, Run: run, Agent: p.Agent, Mode: p.Mode, Prompt: p.prompt(), Replay: p.Replay}
	if !p.File {
		return ask
	}
	steps := []string{"before"}
	for i := range p.Steps {
		steps = append(steps, fmt.Sprintf("step %d", i+1))
	}
	text, err := json.Marshal(map[string]any{"goal": p.Tag, "context": p.prompt(), "instructions": append(steps, "behind")})
	if err != nil {
		panic(err) // texts always marshal
	}
	ask.Prompt, ask.Plan = "", &rpc.PlanFile{File: p.Tag + ".json", Text: string(text), From: 2, Until: p.Steps + 1}
	return ask
}

// marks are the arguments by which a step is done, in words that name the line of the call. The first one adds a step, which
// is there from then on.
func (p plan) marks(step int, line string) map[string]any {
	steps := []map[string]any{{"number": step + 1, "status": sdk.PlanDone, "text": noted(line)}}
	if step == 1 {
		steps = append(steps, map[string]any{"text": "added", "status": sdk.PlanDropped})
	}
	return map[string]any{"steps": steps}
}

// actPlan gives a plan as a file, whose steps the model marks and rewords.
func actPlan(v *visitor, j *job) error {
	return v.prompt(j, plan{Tag: j.tag, Steps: 3, Tools: []string{"note_line", sdk.ToolPlan}, Twice: true, File: true})
}

// planned checks that the steps of a run are those of its plan's file, that each which was asked for is done in the words of
// the last call that did it, and that one was added.
func (s *site) planned(p plan, d rpc.RunDetail) {
	s.t.Helper()
	words := map[int]string{}
	for _, e := range s.entries(d.ID, "log://**") {
		var says struct{ Steps []sdk.PlanStep }
		at, err := sdk.ActionOf(e)
		if err != nil || at.Tool != sdk.ToolPlan || at.State != sdk.StateResolved {
			continue
		}
		if err := json.Unmarshal(at.Arguments, &says); err != nil {
			s.t.Error(err)
			continue
		}
		words[says.Steps[0].Number] = says.Steps[0].Text
	}
	want := []string{sdk.PlanStep{Number: 1, Text: "before", Status: sdk.PlanNotAsked}.Line()}
	for n := 2; n < p.Steps+2; n++ {
		step := sdk.PlanStep{Number: n, Text: words[n], Status: sdk.PlanDone}
		if n == p.Reject+1 && step.Text == "" { // the prompt may have ended before it was marked
			step.Text, step.Status = fmt.Sprintf("step %d", n-1), sdk.PlanOpen
		}
		want = append(want, step.Line())
	}
	want = append(want, sdk.PlanStep{Number: p.Steps + 2, Text: "behind", Status: sdk.PlanNotAsked}.Line())
	want = append(want, sdk.PlanStep{Number: p.Steps + 3, Text: "added", Status: sdk.PlanDropped}.Line())
	for i := range max(len(want), len(d.Plan)) {
		if i >= len(want) || i >= len(d.Plan) || d.Plan[i].Line() != want[i] {
			s.t.Errorf("the plan of run %s is %+v, want %q", d.Run, d.Plan, want)
			return
		}
	}
}

// marked takes how far the plan of a run is. A step that was done stays so.
func (h *history) marked(d rpc.RunDetail) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, step := range d.Plan {
		at := fmt.Sprintf("step %d of run %d", step.Number, d.ID)
		if h.done[at] && step.Status != sdk.PlanDone {
			h.faults = append(h.faults, fmt.Sprintf("%s was done, and is %s", at, step.Status))
		}
		h.done[at] = step.Status == sdk.PlanDone
	}
}

// TestPlansKilled kills a daemon around the commits of a prompt with a plan, and now and then the next one too: its steps are
// there with the prompt, no mark that anybody was told is lost, and a call that is made again marks nothing twice.
//
// Around how many commits, eachCommitOr says.
func TestPlansKilled(t *testing.T) {
	t.Parallel()
	withFailpoints(t)
	random := seeded(t)
	every := eachCommitOr(4)
	v := newVisitor(t, nil, random)
	around := v.around(scenario{act: actPlan}, 1+random.IntN(every), every)
	t.Logf("killed around %d commits", around)
	if around < 6 {
		t.Errorf("there are fewer commits than a plan makes")
	}
	v.leaveAll()
}
