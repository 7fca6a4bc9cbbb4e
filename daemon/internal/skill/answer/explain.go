package answer

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Explain implements server.Skills. It resolves the model as a run would, for
// the model decides how much room there is.
func (a *Answers) Explain(ctx context.Context, p rpc.SkillExplainQuery) (rpc.SkillExplain, error) {
	cfg := a.cfg.Current()
	name := cmp.Or(p.Agent, "default")
	agent, ok := cfg.Agents[name]
	if !ok {
		return rpc.SkillExplain{}, sdk.Errorf(sdk.NotFound, "there is no agent %q; there are: %s", name, strings.Join(slices.Sorted(maps.Keys(cfg.Agents)), ", "))
	}
	c, err := a.cfg.Library.Catalogue(ctx, p.Project)
	if err != nil {
		return rpc.SkillExplain{}, err
	}
	r := reasons{name: p.Name, catalogue: c, settings: cfg.Skills, plugins: cfg.Plugins, agent: agent, tools: a.cfg.Tools(), prompt: p.Prompt}
	if r.model, r.noModel = a.cfg.Models.Look(ctx, cmp.Or(p.Model, agent.Model), p.Model == ""); r.noModel != nil && p.Model != "" {
		return rpc.SkillExplain{}, r.noModel
	}
	return r.explain(), nil
}
