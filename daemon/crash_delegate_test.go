package daemon

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// foreman is an agent that delegates to itself: to one that notes lines.
const foreman = "agent \"foreman\" {\n  model  = \"steps/steps\"\n  agents = [\"foreman\"]\n}\n"

// delegated is the plan that a step delegates: it notes a line of its own, or delegates on, and says what the step is
// noted by.
func (p plan) delegated(line string) plan {
	child := plan{Tag: "of" + line, Steps: 1, Tools: []string{"note_line"}, Says: noted(p.Tag)}
	switch {
	case p.Below > 0:
		child.Below, child.Steps, child.Twice, child.Tools = p.Below-1, p.Steps, p.Twice, p.Tools
	case len(p.Tools) > 1:
		child.Tools = slices.DeleteFunc(slices.Clone(p.Tools), func(tool string) bool { return tool == sdk.ToolDelegate })
	}
	return child
}

// actDelegation has each step give two tasks to children, beside each other.
func actDelegation(v *visitor, j *job) error {
	return v.prompt(j, plan{Tag: j.tag, Agent: "foreman", Steps: 2, Tools: []string{sdk.ToolDelegate}, Twice: true})
}

// delegations checks that each call of a run has one child, whose one prompt has ended and whose line is there once, and
// that each child has its call.
func (s *site) delegations(run int64) {
	s.t.Helper()
	made := map[int64]string{} // the calls that the journal tells of, by their children
	ended := map[int64]int{}   // ends of loops
	for _, row := range s.journal() {
		var at struct {
			Delegator   int64  `json:"delegator"`
			DelegatedBy string `json:"delegated_by"`
		}
		switch {
		case row.Kind == sdk.KindLoopEnded:
			ended[row.Loop]++
		case row.Kind == sdk.KindRunCreated && json.Unmarshal(row.Data, &at) == nil && at.Delegator == run:
			made[row.Run] = at.DelegatedBy
		}
	}
	for _, e := range s.entries(run, "log://**") {
		at, err := sdk.ActionOf(e)
		if err != nil || at.Tool != sdk.ToolDelegate {
			continue
		}
		if at.Child == nil || at.State != sdk.StateResolved {
			s.t.Errorf("%s is %s %s, with the child %+v: %s", e.Path, e.State, e.Outcome, at.Child, e.Body)
			continue
		}
		if made[at.Child.Run] != e.Path || ended[at.Child.Loop] != 1 {
			s.t.Errorf("the child %d of %s was made by %q, and its prompt ended %d times", at.Child.Run, e.Path, made[at.Child.Run], ended[at.Child.Loop])
		}
		delete(made, at.Child.Run)
		var p plan
		for _, task := range s.entries(at.Child.Run, "prompt://1") {
			_, text, _ := strings.Cut(task.Body, `{"tag":`)
			err = json.NewDecoder(strings.NewReader(`{"tag":` + text)).Decode(&p)
		}
		if p.Tag == "" || err != nil {
			s.t.Errorf("the child of %s has no plan: %v", e.Path, err)
			continue
		}
		s.actions(at.Child.Run, p.Tag+"-")
		if slices.Contains(p.Tools, sdk.ToolDelegate) {
			s.delegations(at.Child.Run)
		}
	}
	if len(made) > 0 {
		s.t.Errorf("children without a call: %v", fmt.Sprint(made))
	}
}

// TestFailpointsOfDelegations kills a daemon wherever a commit of a delegation, or of its child, is made, and the next
// one while it takes up what was left: no child is lost and none is there twice.
func TestFailpointsOfDelegations(t *testing.T) {
	t.Parallel()
	v := newVisitor(t, scenarios(), seeded(t))
	scene, _ := sceneOf(v.scenes, failpoint.DelegateAfter)
	seconds := []failpoint.Name{failpoint.RecoverResume, failpoint.DelegateEnded, failpoint.StoreAfter, failpoint.FinishBefore}
	for i, first := range []failpoint.Name{failpoint.RecordAfter, failpoint.DelegateAfter, failpoint.EffectAfter, failpoint.DelegateEnded, failpoint.StepAfter, failpoint.FinishAfter} {
		v.jobs = nil
		v.begin(scene)
		if !v.live(first, surely) {
			t.Errorf("no daemon came to %s", first)
		}
		second := seconds[i%len(seconds)]
		v.live(second, perhaps)
		v.end(first, second)
		if t.Failed() {
			return
		}
	}
	v.leaveAll()
}
