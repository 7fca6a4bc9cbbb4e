package engine

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/daemon/internal/agent/plan"
	"github.com/bothyd/bothy/daemon/internal/agent/team"
	"github.com/bothyd/bothy/sdk"
)

// The loop of a team is made of ordinary turns (decision 104): the model makes a plan, the engine's own answers give
// its tasks out, and the model puts together what came of them. What a turn is for is read from what the loop has
// done, so that a loop which is taken up goes on where it was.

// teamTurn is what a turn of a team's loop is for.
type teamTurn struct {
	tool  string     // the only one that it has
	gives []sdk.Call // with tool delegate: the engine's own answer
}

// goesOn reports whether the loop does not end with the turn.
func (t *teamTurn) goesOn() bool { return t != nil && t.tool != sdk.ToolFinish }

// teamwork is how far a team's loop had come before a turn: its plan, what its tasks came to, and what people are to
// know of the plan.
func (e *Engine) teamwork(ctx context.Context, a *activeLoop, before int) (p team.Plan, reports []team.Report, notes []string, err error) {
	entries, err := a.mirror.Refresh(ctx)
	if err != nil {
		return p, nil, nil, err
	}
	p, planned, reports := team.Past(entries, a.loop.ID, before, a.agent.Agents, a.agent.Team.Mode)
	if planned {
		return p, reports, p.Dropped, nil
	}
	says, task, err := e.teamPrompt(ctx, a, entries)
	if err != nil {
		return p, nil, nil, err
	}
	if a.turns > 1 { // the turn that was opened behind the plan has the steps of its own
		return team.Routed(task, sdk.PlanOf(entries), a.agent.Team.Mode), reports, nil, nil
	}
	routed, why := team.Route(says, task, e.members(a), a.agent.Team.Mode)
	return routed, reports, []string{"the team has no plan that could be used: " + why}, nil
}

// members are the agents of a team that are there.
func (e *Engine) members(a *activeLoop) []sdk.Agent {
	return which(e.agentsFor(a), func(m sdk.Agent) bool { return slices.Contains(a.agent.Agents, m.Name) })
}

// takeTeam finds out what the turn of a team is for.
func (e *Engine) takeTeam(ctx context.Context, a *activeLoop) error {
	if a.agent.Team == nil || a.turn == nil {
		return nil
	}
	if a.turns == 1 {
		a.team = &teamTurn{tool: sdk.ToolCreatePlan}
		return nil
	}
	p, reports, _, err := e.teamwork(ctx, a, a.turn.row.Sequence)
	if err != nil {
		return fmt.Errorf("look at how far the team is: %w", err)
	}
	a.team = &teamTurn{tool: sdk.ToolFinish}
	for i, arguments := range p.Next(reports) {
		a.team.tool = sdk.ToolDelegate
		a.team.gives = append(a.team.gives, sdk.Call{ID: fmt.Sprintf(taskID, len(reports)+i+1), Tool: sdk.ToolDelegate, Arguments: string(arguments)})
	}
	return nil
}

// bringAlong has a member of a team read what the team's prompt brings along beside what was typed: files that are
// attached, a skill, a plan, and images.
func (a *activeLoop) bringAlong(l *sdk.Loop, task delegate.Task) {
	prompt, known := a.mirror.Find(fmt.Sprintf("prompt://%d", a.loop.Sequence))
	if a.agent.Team == nil || !known {
		return
	}
	means := team.Meaning(prompt)
	text := team.Along(task, a.loop.Prompt, means.Text)
	var media []sdk.Medium
	for _, m := range means.Media {
		if image, known := a.mirror.Find(m.URI); known {
			m.Data = image.Body
			media = append(media, m)
		}
	}
	if text != "" || media != nil {
		l.Meaning = (&sdk.Meaning{Text: text}).With(media)
	}
}

// teamContext narrows what a turn of a team has to what it is for.
func (e *Engine) teamContext(a *activeLoop, t *sdk.TurnContext) {
	if a.team == nil {
		return
	}
	t.Only, t.Commit = a.team.tool, nil
	switch a.team.tool {
	case sdk.ToolCreatePlan:
		t.Team, t.Agents, t.Finish = a.agent.Team, e.members(a), nil
	case sdk.ToolDelegate:
		t.Finish = nil
	case sdk.ToolFinish:
		t.Agents = nil
	}
}

// teamAnswer chooses the model of a team's turn, or answers in its place where the turn gives tasks out.
func (e *Engine) teamAnswer(ctx context.Context, a *activeLoop) (answered bool, err error) {
	if a.agent.Team == nil {
		return false, nil
	}
	e.takeTools(ctx, a)
	next := a.head
	switch planner := a.agent.Team.Planner; {
	case a.team == nil:
		return false, sdk.Errorf(sdk.Unavailable, "how far the team is cannot be read")
	case len(a.team.gives) > 0:
		a.offerTools()
		c := sdk.Completion{Calls: a.team.gives, Finish: "calls"}
		if err := e.tapeGiven(ctx, a, c); err != nil {
			return false, err
		}
		e.read(ctx, a, c)
		return true, nil
	case planner == "" || a.played != nil:
		return false, nil
	case a.team.tool == sdk.ToolCreatePlan:
		if next, err = e.cfg.Models.ResolveConfigured(ctx, planner); err != nil {
			return false, fmt.Errorf("the model %s of the team's planner: %w", planner, err)
		}
	}
	e.change(ctx, a, next)
	a.chain, a.turn.row.Model = a.choice.Fallback, a.choice.Alias
	return false, nil
}

// markTask marks a task of a team that works beside others when it has ended: their ends are recorded together, and that
// may be much later. What cannot be marked now is by the turn that is opened next.
func (e *Engine) markTask(ctx context.Context, a *activeLoop, x *action) {
	if a.team == nil || len(a.team.gives) < 2 || context.Cause(ctx) != nil {
		return
	}
	var number int
	if _, err := fmt.Sscanf(x.CallID, taskID, &number); err != nil {
		return
	}
	mark := plan.Mark(team.Mark(number, team.Report{Ended: true, Done: x.State == sdk.StateResolved, Text: x.Body}))
	if _, err := e.commit(ctx, once, sdk.Change{Run: a.run.ID, Writes: []sdk.Write{mark}}); err != nil {
		e.log.Debug("a task of a team is marked later", "run", a.run.Alias, "path", x.Path, "error", err)
	}
}

// taskID is the id of the call that gives a task out, by the number of its step.
const taskID = "task_%d"

// advance writes, with the turn that is opened next, what became of the team's tasks, which are the steps of the run's
// plan.
func (e *Engine) advance(ctx context.Context, a *activeLoop) error {
	if !a.team.goesOn() {
		return nil
	}
	p, reports, notes, err := e.teamwork(ctx, a, a.turn.row.Sequence+1)
	if err != nil {
		return fmt.Errorf("look at how far the team is: %w", err)
	}
	if a.team.tool == sdk.ToolCreatePlan && len(notes) > 0 {
		a.turn.note(sdk.KindNoteWarning, a.loop.ID, map[string]string{"message": strings.Join(notes, "; ")})
	}
	var old []sdk.PlanStep
	for _, s := range sdk.PlanOf(a.mirror.Entries()) {
		s.Version = 0
		old = append(old, s)
	}
	a.first = append(a.first, plan.Replace(old, p.Steps(reports))...)
	if len(p.Next(reports)) == 0 {
		text, turn := team.Synthesis, a.turn.row.Sequence
		a.first = append(a.first, sdk.Write{
			Path: sdk.CorrectionPath(turn), Body: &text, Writer: sdk.WriterSystem, State: sdk.StateResolved, Loop: a.loop.ID, Turn: turn,
		})
	}
	return nil
}

// teamPrompt is what a person said by the prompt of a team's loop, and the task that it is for somebody who knows nothing
// of the run: it begins with the prompts that it goes on with. What goes with the prompt itself is brought along.
func (e *Engine) teamPrompt(ctx context.Context, a *activeLoop, entries []sdk.Entry) (says, task string, err error) {
	says, task = said(a.loop, entries), a.loop.Prompt
	for l := a.loop; optionsOf(l).Resumes != 0; {
		if l, err = delegate.Prompt(ctx, e.cfg.Store, sdk.ActionChild{Run: a.run.ID, Alias: a.run.Alias, Loop: optionsOf(l).Resumes}); err != nil {
			return "", "", err
		}
		says, task = said(l, entries), team.ReadAs(l, entries)+"\n\n"+task
	}
	if (delegate.Task{Task: task}).Check() != nil { // too long for a task, with the files that are attached
		task = says
	}
	return says, task, nil
}

// said is what a person said by a prompt: the plan, where they gave one.
func said(l sdk.Loop, entries []sdk.Entry) string {
	if optionsOf(l).Plan != "" {
		return team.ReadAs(l, entries)
	}
	return l.Prompt
}
