package show

import "github.com/bothyd/bothy/sdk"

// Plan is how far a plan is: a line for all of it and one for each step.
func Plan(steps []sdk.PlanStep) []Spans {
	if len(steps) == 0 {
		return nil
	}
	lines := []Spans{{{Dim, sdk.PlanProgress(steps)}}}
	for _, s := range steps {
		lines = append(lines, PlanStep(s))
	}
	return lines
}

// PlanStep is a step in one line.
func PlanStep(s sdk.PlanStep) Spans {
	style := Plain
	switch s.Status {
	case sdk.PlanDoing:
		style = Bold
	case sdk.PlanDone, sdk.PlanDropped, sdk.PlanNotAsked:
		style = Dim
	}
	return Spans{{style, Line(s.Line())}}
}

// PlanWindow are as many steps of a plan as fit: those around the first that is not done yet, and how many are left
// out before and behind them.
func PlanWindow(steps []sdk.PlanStep, most int) (some []sdk.PlanStep, before, behind int) {
	if len(steps) <= most {
		return steps, 0, 0
	}
	at := 0
	for at < len(steps)-1 && steps[at].Status != sdk.PlanOpen && steps[at].Status != sdk.PlanDoing {
		at++
	}
	before = min(max(at-1, 0), len(steps)-most)
	return steps[before : before+most], before, len(steps) - before - most
}
