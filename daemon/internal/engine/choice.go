package engine

import (
	"cmp"
	"context"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// chosen is the model of a submission, and why it is that one. What the prompt or
// its run names is kept to; what the configuration names may give way.
func (e *Engine) chosen(ctx context.Context, s Submission, p placed, workspace string) (sdk.ModelChoice, error) {
	if s.played != nil {
		return s.played.Choice(), nil
	}
	given := p.given(s)
	if s.Model == "" && given != "" && e.cfg.Models.IsLast(given) {
		var err error
		if given, err = e.realModel(ctx, p.run.ID); err != nil {
			return sdk.ModelChoice{}, err
		}
	}
	if given != "" {
		return e.cfg.Models.Resolve(ctx, given)
	}
	name, why := "", ""
	switch usual := e.usual(p.project.Root).Model; {
	case p.agent.Model != "":
		name, why = p.agent.Model, "the agent "+p.agent.Name+" names it"
	case workspace != "":
		name, why = workspace, "the workspace names it"
	case usual != "":
		name, why = usual, "the agent default names it"
	}
	c, err := e.cfg.Models.ResolveConfigured(ctx, name)
	if c.Instead == "" {
		c.Why = cmp.Or(why, c.Why)
	}
	return c, err
}

// given is the model that a prompt names, or its run; empty where neither does. A
// run keeps its model, but for another agent.
func (p placed) given(s Submission) string {
	if s.Model == "" && (s.Agent == "" || p.agent.Model == "") {
		return p.run.Model
	}
	return s.Model
}

// realModel is the model that a run has which began when there was none: that of its newest
// prompt for which there was one. It is empty while there was none for any.
func (e *Engine) realModel(ctx context.Context, run int64) (string, error) {
	loops, err := e.cfg.Store.Loops(ctx, run)
	if err != nil {
		return "", err
	}
	for _, l := range slices.Backward(loops) {
		if !e.cfg.Models.IsLast(l.Model) {
			return l.Model, nil
		}
	}
	return "", nil
}
