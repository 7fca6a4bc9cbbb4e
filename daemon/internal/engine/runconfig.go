package engine

import (
	"cmp"
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// ConfigureRun changes a run's model and what it has of its own, at any time; what it works
// on goes on as it began. Nothing given changes nothing.
func (e *Engine) ConfigureRun(ctx context.Context, run int64, p rpc.RunConfig) (sdk.Run, error) {
	leave, err := e.enter()
	if err != nil {
		return sdk.Run{}, err
	}
	defer leave()
	r, err := e.cfg.Store.Run(ctx, run)
	if err != nil {
		return r, err
	}
	if r.Hidden {
		return r, sdk.Errorf(sdk.Conflict, "the run %s keeps the project's tool calls: no model works in it", r.Alias)
	}
	var choice sdk.ModelChoice
	if p.Model != "" {
		if choice, err = e.cfg.Models.Resolve(ctx, p.Model); err != nil {
			return r, err
		}
	}
	if choice.Alias != "" || p.RunOptions != (rpc.RunOptions{}) {
		if p.RunOptions, err = e.filterConfig(ctx, r, choice.Alias, p.RunOptions); err != nil {
			return r, err
		}
	}
	return e.configure(ctx, r, choice.Alias, p.RunOptions)
}

// configure changes a run by what was given; an empty model stays.
func (e *Engine) configure(ctx context.Context, r sdk.Run, model string, o rpc.RunOptions) (sdk.Run, error) {
	change := configuring(model, o)
	if change == nil {
		return r, nil
	}
	return e.cfg.Store.ConfigureRun(ctx, r.ID, change)
}

// configuring is a change of a run by what was given; nil when that is nothing.
func configuring(model string, o rpc.RunOptions) func(*sdk.Run) {
	if model == "" && o == (rpc.RunOptions{}) {
		return nil
	}
	return func(r *sdk.Run) {
		o.Apply(&r.RunConfig)
		if model != "" {
			r.Model = model
		}
	}
}

// filterOptions asks the filter run.config about what a submission gives its run, which may be about to be
// made. What it returns is given in its place.
func (e *Engine) filterOptions(ctx context.Context, p placed, s Submission) (rpc.RunOptions, error) {
	r := p.run
	if r.ID == 0 {
		r = sdk.Run{Project: p.project.ID, Alias: s.Run, Agent: p.agent.Name, Model: p.model(), Private: s.Origin.Channel != "", Origin: s.Origin}
	} else if s.Options == (rpc.RunOptions{}) {
		return s.Options, nil
	}
	return e.filterConfig(ctx, r, "", s.Options)
}

// filterConfig asks the filter run.config about what a run is given; an empty model stays.
func (e *Engine) filterConfig(ctx context.Context, r sdk.Run, model string, o rpc.RunOptions) (rpc.RunOptions, error) {
	if !e.cfg.Hooks.RunConfig.Active() {
		return o, nil
	}
	asked := r.RunConfig
	o.Apply(&asked)
	r.Persona, asked.Persona = "", "" // which is its model's to read
	got, err := e.cfg.Hooks.RunConfig.Apply(ctx, sdk.ConfigChange{Run: r, Model: cmp.Or(model, r.Model), Config: asked})
	if err != nil {
		return o, err
	}
	if t := got.Config.Temperature; t != nil {
		o.Temperature = t
	}
	if got.Config.ContextLimit != asked.ContextLimit {
		o.ContextLimit = &got.Config.ContextLimit
	}
	for _, flag := range []struct {
		asked, got bool
		to         **bool
	}{
		{asked.NoRepo, got.Config.NoRepo, &o.NoRepo}, {asked.NoInteraction, got.Config.NoInteraction, &o.NoInteraction},
		{asked.NoWeb, got.Config.NoWeb, &o.NoWeb}, {asked.NoProposals, got.Config.NoProposals, &o.NoProposals}, {asked.NoMemory, got.Config.NoMemory, &o.NoMemory},
	} {
		if flag.got && !flag.asked {
			*flag.to = &flag.got
		}
	}
	return o, nil
}
