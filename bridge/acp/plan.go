package main

import (
	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
)

// plan tells the run's plan once no more of it changes: the rows of its steps come one behind the other. An editor takes each
// such message for the whole plan.
func (t *teller) plan(changed bool) {
	if changed || !t.planned {
		t.planned = changed
		return
	}
	t.planned = false
	if line := t.tree.Run(t.s.run); line != nil {
		t.update(acp.UpdatePlan(planEntries(line.Plan)...))
	}
}

// planEntries are the steps that are asked for. The protocol has no word for one that was dropped: it is completed, and says so.
func planEntries(steps []sdk.PlanStep) []acp.PlanEntry {
	all := []acp.PlanEntry{}
	for _, s := range steps {
		e := acp.PlanEntry{Content: show.Line(sdk.Excerpt(s.Text)), Priority: acp.PlanEntryPriorityMedium, Status: acp.PlanEntryStatusPending}
		switch s.Status {
		case sdk.PlanNotAsked:
			continue
		case sdk.PlanDoing:
			e.Status = acp.PlanEntryStatusInProgress
		case sdk.PlanDone:
			e.Status = acp.PlanEntryStatusCompleted
		case sdk.PlanDropped:
			e.Status, e.Content = acp.PlanEntryStatusCompleted, "dropped: "+e.Content
		}
		all = append(all, e)
	}
	return all
}
