package engine

import (
	"cmp"
	"context"

	"github.com/bothyd/bothy/sdk"
)

// chosen is the model of a submission, and why it is that one. What the prompt or
// its run names is kept to; what the configuration names may give way.
func (e *Engine) chosen(ctx context.Context, s Submission, p placed, workspace string) (sdk.ModelChoice, error) {
	if s.played != nil {
		return s.played.choice(), nil
	}
	if given := p.given(s); given != "" {
		return e.cfg.Models.Resolve(ctx, given)
	}
	name, why := "", ""
	switch usual := (*e.agents.Load())["default"].Model; {
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
