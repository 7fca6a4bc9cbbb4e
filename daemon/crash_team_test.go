package daemon

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// teams are two teams of an agent that hands its work over and one that may delegate on: of the one both work side by
// side, of the other one after the other.
const teams = `
agent "mate" {
  model = "steps/steps"
  tools = ["note_line"]
  finish {
    schema = { type = "object", properties = { summary = { type = "string" } }, required = ["summary"] }
  }
}
team "crew" {
  agents    = ["mate", "foreman"]
  model     = "steps/steps"
  synthesis = { type = "object", properties = { summary = { type = "string" } }, required = ["summary"] }
}
team "relay" {
  agents    = ["mate", "foreman"]
  mode      = "sequential"
  model     = "steps/steps"
  synthesis = { type = "object", properties = { summary = { type = "string" } }, required = ["summary"] }
}
`

// team reports whether the plan is for one of the site's teams.
func (p plan) team() bool { return p.Agent == "crew" || p.Agent == "relay" }

// assignments are what a team is given of a plan, a task for each step, its agents in turns.
func (p plan) assignments() (all []memberTask) {
	for i := range p.Steps {
		all = append(all, memberTask{Agent: []string{"mate", "foreman"}[i%2], Task: p.delegated(fmt.Sprintf("%s-%d", p.Tag, i+1)).prompt()})
	}
	return all
}

// memberTask is a task of a plan, as the engine gives it to its agent.
type memberTask struct {
	Agent string `json:"agent"`
	Task  string `json:"task"`
}

// assign makes the plan of a team.
func (p plan) assign(s sse) {
	arguments, err := json.Marshal(map[string]any{"assignments": p.assignments()})
	if err != nil {
		panic(err) // texts always marshal
	}
	s.call(map[string]any{"index": 0, "id": "plan", "type": "function", "function": map[string]any{"name": sdk.ToolCreatePlan, "arguments": string(arguments)}})
	s.end("tool_calls")
}

// handOver hands the work over, at first as its schema does not have it.
func (p plan) handOver(s sse, last chatMessage) {
	arguments, said := "{}", fmt.Sprintf("%s: finished %d steps", p.Tag, p.Steps)
	if last.Role == "tool" && !strings.Contains(last.Content, noted("")) {
		arguments = fmt.Sprintf(`{"summary":%q}`, said+"; "+p.Says)
	}
	s.text(said)
	s.call(map[string]any{"index": 0, "id": "finish", "type": "function", "function": map[string]any{"name": sdk.ToolFinish, "arguments": arguments}})
	s.end("tool_calls")
}

// actTeam has a team work, whose members work as the agent says.
func actTeam(agent string) func(*visitor, *job) error {
	return func(v *visitor, j *job) error {
		return v.prompt(j, plan{Tag: j.tag, Agent: agent, Steps: 3, Tools: []string{sdk.ToolDelegate}})
	}
}

// teamwork checks that a team has one plan, has given out each of its tasks once and in their order, and that its work and that
// of each member which hands over was accepted once. That each task has one child is checked of all delegations.
func (s *site) teamwork(p plan, d rpc.RunDetail) {
	s.t.Helper()
	var given []memberTask
	plans := 0
	for _, e := range s.entries(d.ID, "log://**") {
		at, err := sdk.ActionOf(e)
		var task memberTask
		switch {
		case err != nil:
			s.t.Error(err)
		case at.Tool == sdk.ToolCreatePlan:
			plans++
		case at.Tool == sdk.ToolDelegate && at.Child != nil && json.Unmarshal(at.Arguments, &task) == nil:
			given = append(given, task)
			if task.Agent == "mate" {
				s.handedOver(at.Child.Run)
			}
		}
	}
	if want := p.assignments(); plans != 1 || !slices.Equal(given, want) {
		s.t.Errorf("run %s has %d plans, and gave out\n%+v\nwant\n%+v", d.Run, plans, given, want)
	}
	if len(d.Plan) != p.Steps || slices.ContainsFunc(d.Plan, func(x sdk.PlanStep) bool { return x.Status != sdk.PlanDone }) {
		s.t.Errorf("the plan of run %s is %+v", d.Run, d.Plan)
	}
	s.handedOver(d.ID)
}

// handedOver checks that the one prompt of a run ended by a result, which was accepted once and as the last of its calls.
func (s *site) handedOver(run int64) {
	s.t.Helper()
	accepted, calls := 0, 0
	last := sdk.Action{}
	for _, e := range s.entries(run, "log://**") {
		at, err := sdk.ActionOf(e)
		if err != nil {
			s.t.Error(err)
			continue
		}
		if last = at; at.Tool == sdk.ToolFinish {
			calls++
		}
		if at.Finished() {
			accepted++
		}
	}
	if accepted != 1 || calls < 2 || !last.Finished() {
		s.t.Errorf("run %d: of %d results %d were accepted, and the last call is %s: %s", run, calls, accepted, last.Tool, last.State)
	}
}

// TestTeamsKilled kills a daemon around the commits of a team's loop and of its members', from the plan to what puts
// the work together, and now and then the next one too: each task is given out once, and each result accepted once.
//
// Around how many commits, eachCommitOr says.
func TestTeamsKilled(t *testing.T) {
	t.Parallel()
	withFailpoints(t)
	random := seeded(t)
	every := eachCommitOr(8)
	for _, agent := range []string{"crew", "relay"} {
		t.Run(agent, func(t *testing.T) {
			v := newVisitor(t, nil, random)
			around := v.around(scenario{act: actTeam(agent)}, 1+random.IntN(every), every)
			t.Logf("killed around %d commits", around)
			if around < 6 {
				t.Errorf("there are fewer commits than a team makes")
			}
			v.leaveAll()
		})
	}
}
