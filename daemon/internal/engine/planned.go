package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/agent/plan"
	"github.com/bothyd/bothy/sdk"
)

// planned is the plan of a submission, read. Nil is a submission without one.
type planned struct {
	plan  plan.Plan
	asked plan.Range
}

// withPlan reads the plan of a submission, whose prompt names it to people.
func withPlan(s Submission) (Submission, error) {
	if s.Plan == nil {
		return s, nil
	}
	if strings.TrimSpace(s.Prompt) != "" {
		return s, sdk.Errorf(sdk.Validation, "a plan stands in the place of the prompt: give one of them")
	}
	read, err := plan.Read(s.Plan.File, []byte(s.Plan.Text))
	if err != nil {
		return s, err
	}
	s.planned = &planned{read, plan.Range{From: s.Plan.From, Until: s.Plan.Until}}
	s.Prompt = fmt.Sprintf("Follow the plan %s: %s", filepath.Base(s.Plan.File), read.Goal)
	return s, s.planned.asked.Check(read)
}

// digest tells one plan from another, with what is asked for of it.
func (p *planned) digest() string {
	if p == nil {
		return ""
	}
	sum := sha256.Sum256([]byte(p.plan.Prompt(p.asked)))
	return hex.EncodeToString(sum[:])
}

// meaning is what the model reads: the plan, where there is one.
func (p *planned) meaning(m *sdk.Meaning) *sdk.Meaning {
	if p == nil {
		return m
	}
	return &sdk.Meaning{Text: p.plan.Prompt(p.asked)}
}

// replacePlan are the writes by which the plan of a submission becomes the run's. The caller holds the lock of
// submissions.
func (e *Engine) replacePlan(ctx context.Context, run sdk.Run, s Submission, ahead int) ([]sdk.Write, error) {
	if s.planned == nil {
		return nil, nil
	}
	if ahead > 0 {
		return nil, sdk.Errorf(sdk.Conflict, "the run %[1]s is at work, and a new plan would take the place of the steps that it works on: wait for it (`bothy runs show %[1]s`), end it (`bothy runs abort %[1]s`), or give the plan to another run", run.Alias)
	}
	old, err := e.planSteps(ctx, run)
	return plan.Replace(old, s.planned.plan.InRun(s.planned.asked)), err
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
	for i, s := range steps[:min(len(steps), len(was))] {
		if s.Status == sdk.PlanDoing {
			s.Status = sdk.PlanOpen
		}
		ended := was[i].Status == sdk.PlanDone || was[i].Status == sdk.PlanDropped // which the calls tell later
		if s.Status != was[i].Status && !ended {
			s.Version = 0
			writes = append(writes, plan.Mark(s))
		}
	}
	return writes
}
