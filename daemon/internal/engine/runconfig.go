package engine

import (
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
