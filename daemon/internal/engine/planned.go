package engine

import (
	"context"
	"math"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/agent/plan"
	"github.com/bothyd/bothy/sdk"
)

// withPlan reads the plan of a submission, whose prompt names it to people.
func withPlan(s Submission) (Submission, error) {
	if s.Plan == nil {
		return s, nil
	}
	if strings.TrimSpace(s.Prompt) != "" {
		return s, sdk.Errorf(sdk.Validation, "a plan stands in the place of the prompt: give one of them")
	}
	var err error
	if s.asked, err = plan.Ask(s.Plan.File, s.Plan.Text, plan.Range{From: s.Plan.From, Until: s.Plan.Until}); err == nil {
		s.Prompt = s.asked.Title(s.Plan.File)
	}
	return s, err
}

// replacePlan are the writes by which the plan of a submission becomes the run's. The caller holds the lock of
// submissions.
func (e *Engine) replacePlan(ctx context.Context, run sdk.Run, s Submission, ahead int) ([]sdk.Write, error) {
	if s.asked == nil {
		return nil, nil
	}
	if ahead > 0 {
		return nil, sdk.Errorf(sdk.Conflict, "the run %[1]s is at work, and a new plan would take the place of the steps that it works on: wait for it (`bothy runs show %[1]s`), end it (`bothy runs abort %[1]s`), or give the plan to another run", run.Alias)
	}
	old, err := e.planSteps(ctx, run)
	return plan.Replace(old, s.asked.Steps()), err
}

// planSteps are the steps of a run's plan.
func (e *Engine) planSteps(ctx context.Context, run sdk.Run) ([]sdk.PlanStep, error) {
	entries, err := e.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: run.ID, Pattern: plan.Pattern})
	return sdk.PlanOf(entries), err
}

// planMeaning is a prompt that goes on with a run, with how far its plan is; nil where it has none.
func (e *Engine) planMeaning(ctx context.Context, run sdk.Run, prompt string) (*sdk.Meaning, error) {
	steps, err := e.planSteps(ctx, run)
	if err != nil || len(steps) == 0 {
		return nil, err
	}
	return &sdk.Meaning{Text: prompt + "\n\nThe plan as it is now:\n" + plan.Progress(steps)}, nil
}

// leaveSteps are the writes by which no step stays in progress as a loop ends that was stopped: it is open again. The steps of
// a team are what its calls came to, which no turn is opened any more to mark.
func (e *Engine) leaveSteps(a *activeLoop, end ending) (writes []sdk.Write) {
	if end.stop != sdk.StopRejected && sdk.StopExit(end.stop, end.status) == sdk.ExitOK {
		return nil
	}
	was, err := e.planSteps(e.base, a.run)
	steps := was
	if a.team != nil && a.team.tool == sdk.ToolDelegate && err == nil {
		p, reports, _, unknown := e.teamwork(e.base, a, math.MaxInt)
		steps, err = p.Steps(reports), unknown
	}
	if err != nil {
		e.log.Warn("the steps that were worked on stay marked so", "run", a.loop.Run, "error", err)
		return nil
	}
	return plan.Left(was, steps)
}
