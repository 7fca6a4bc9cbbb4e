package main

import (
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
)

// How much of a plan stands above the input: steps, where the window is as high as that.
const (
	planSteps  = 6
	planHeight = 18
)

// planLines tell how far the run's plan is while it is worked on, with the steps around the one that is next.
func (c *conversation) planLines() []string {
	open := func(s sdk.PlanStep) bool { return s.Status == sdk.PlanOpen || s.Status == sdk.PlanDoing }
	if !slices.ContainsFunc(c.line.Plan, open) {
		return nil
	}
	most := planSteps
	if c.height < planHeight {
		most = 1
	}
	steps, before, behind := show.PlanWindow(c.line.Plan, most)
	head := "  " + sdk.PlanProgress(c.line.Plan)
	if before+behind > 0 {
		head += fmt.Sprintf(" (%d more)", before+behind)
	}
	lines := []string{c.p.dim.Render(cut(head, c.columns()))}
	for _, s := range steps {
		lines = append(lines, cut("  "+show.PlanStep(s).Draw(c.p.paint), c.columns()))
	}
	return lines
}
