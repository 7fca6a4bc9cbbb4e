// Package team says what a team does at each turn of a prompt: who is asked for what, by the plan of a model or, where
// that cannot be used, by what agents are good at. It is pure: arguments and ended calls go in, calls come out; the
// engine makes the turns.
//
//	plan      what a call of create_plan says, and what of it is taken
//	route     who gets a prompt without a usable plan
//	work      the calls of a turn, and the steps of the run's plan
//	past      what a loop has done so far, by its entries, and what goes with its prompt
package team

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/sdk"
)

// mostAssignments of one plan; a prompt has no more children by default.
const mostAssignments = 16

// Assignment is a task of a plan, with why its agent gets it.
type Assignment struct {
	delegate.Task
	Reasoning string `json:"reasoning"`
}

// Plan is who does what for a prompt.
type Plan struct {
	Mode        sdk.TeamMode
	Reasoning   string
	Assignments []Assignment
	Dropped     []string // what of it is not taken, and why, each in a sentence
}

// Parameters is the schema of the arguments of sdk.ToolCreatePlan.
func Parameters(members []sdk.Agent) json.RawMessage {
	one, _ := json.Marshal("one of " + strings.Join(names(members), ", ")) // of a text, which cannot fail
	return json.RawMessage(`{"type":"object","properties":{` +
		`"assignments":{"type":"array","minItems":1,"maxItems":` + fmt.Sprint(mostAssignments) + `,"items":{"type":"object","properties":{` +
		`"agent":{"type":"string","description":` + string(one) + `},` +
		`"task":{"type":"string","minLength":1,"description":"what it is to do and to hand back, in full: it knows nothing of this conversation"},` +
		`"context":{"type":"string","description":"what it has to know for that"},` +
		`"writes":{"type":"array","items":{"type":"string","minLength":1},"description":"globs of the only paths that it may change (src/**); [] is none, without it all that it may otherwise"},` +
		`"reasoning":{"type":"string","description":"why this agent"}},"required":["agent","task"],"additionalProperties":false}},` +
		`"mode":{"type":"string","enum":["parallel","sequential"],"description":"sequential where a task needs what those before it came to"},` +
		`"reasoning":{"type":"string","description":"why this plan"}},"required":["assignments"],"additionalProperties":false}`)
}

// Read reads the arguments of a call of sdk.ToolCreatePlan. What names nobody of the team, stands there twice or cannot
// be meant is dropped, and no more than that, since nobody is asked for a better plan; that nothing is left is an error
// with outcome validation. A team whose agents work one after the other stays one.
func Read(arguments json.RawMessage, members []string, mode sdk.TeamMode) (Plan, error) {
	var says map[string]json.RawMessage
	var all []json.RawMessage
	err := sdk.ReadJSON(arguments, &says)
	if err == nil && says["assignments"] != nil {
		err = json.Unmarshal(says["assignments"], &all)
	}
	if err != nil {
		return Plan{}, sdk.Errorf(sdk.Validation, "the arguments of %s cannot be read: it takes assignments, a list with agent, task, context, writes and reasoning, then mode and reasoning: %w", sdk.ToolCreatePlan, err)
	}
	p := Plan{Mode: mode}
	_ = json.Unmarshal(says["reasoning"], &p.Reasoning) // of both, what is no text says nothing
	var asked sdk.TeamMode
	if _ = json.Unmarshal(says["mode"], &asked); asked == sdk.TeamSequential {
		p.Mode = asked
	}
	for i, text := range all {
		p.take(i+1, text, members)
	}
	if len(p.Assignments) == 0 {
		return p, sdk.Errorf(sdk.Validation, "no assignment of the plan can be used%s", because(p.Dropped))
	}
	return p, nil
}

// take adds an assignment, or says why it is dropped. What it has besides is passed over.
func (p *Plan) take(number int, text json.RawMessage, members []string) {
	var x Assignment
	if err := sdk.ReadJSON(text, &x); err != nil {
		if x = (Assignment{}); json.Unmarshal(text, &x) != nil {
			p.Dropped = append(p.Dropped, fmt.Sprintf("assignment %d is dropped: it cannot be read: %v", number, err))
			return
		}
		p.Dropped = append(p.Dropped, fmt.Sprintf("of assignment %d not all is read: %v", number, err))
	}
	if why := p.against(x, members); why != "" {
		p.Dropped = append(p.Dropped, fmt.Sprintf("assignment %d is dropped: %s", number, why))
		return
	}
	p.Assignments = append(p.Assignments, x)
}

// And is both of two plans that one answer has, as one: a model that calls sdk.ToolCreatePlan for each task means them
// all.
func (p Plan) And(other Plan) Plan {
	if other.Mode == sdk.TeamSequential {
		p.Mode = other.Mode
	}
	p.Dropped = slices.Concat(p.Dropped, other.Dropped)
	for _, x := range other.Assignments {
		if why := p.against(x, []string{x.Agent}); why != "" {
			p.Dropped = append(p.Dropped, "an assignment of another call is dropped: "+why)
			continue
		}
		p.Assignments = append(slices.Clip(p.Assignments), x)
	}
	return p
}

// against is why an assignment is not taken; empty where it is.
func (p Plan) against(x Assignment, members []string) string {
	switch {
	case !slices.Contains(members, x.Agent):
		return fmt.Sprintf("there is no %q in the team, which has %s", sdk.Excerpt(x.Agent), strings.Join(members, ", "))
	case slices.ContainsFunc(p.Assignments, func(y Assignment) bool { return y.Agent == x.Agent && folded(y.Task.Task) == folded(x.Task.Task) }):
		return x.Agent + " has the same task already"
	case len(p.Assignments) == mostAssignments:
		return fmt.Sprintf("a plan has %d at most", mostAssignments)
	}
	if err := x.Check(); err != nil {
		return err.Error()
	}
	return ""
}

func folded(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

func because(notes []string) string {
	if len(notes) == 0 {
		return ": it has none"
	}
	return ": " + strings.Join(notes, "; ")
}

// Told is the plan as it was taken, for the model that made it and for people.
func (p Plan) Told() string {
	how := "together"
	if p.Mode == sdk.TeamSequential {
		how = "one after the other"
	}
	lines := []string{"The plan is taken, and its tasks are given out " + how + ":"}
	for i, x := range p.Assignments {
		lines = append(lines, fmt.Sprintf("%d. %s: %s", i+1, x.Agent, sdk.Excerpt(x.Task.Task)))
	}
	return strings.Join(append(lines, p.Dropped...), "\n")
}

func names(agents []sdk.Agent) []string {
	all := make([]string, len(agents))
	for i, a := range agents {
		all[i] = a.Name
	}
	return all
}
