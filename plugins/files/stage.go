package main

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/lock"
	"github.com/bothyd/bothy/sdk/tool"
)

// operation is how a tool changes the project: plan works out what do would do,
// and refuses what do would refuse.
type operation[In any] struct {
	plan func(*project, context.Context, In) (*plan, error)
	do   func(*project, context.Context, In) (answer, error)
}

// change makes a tool of an operation that a person can be shown before it is
// done. It is done while nobody else changes the project's files, so that nothing
// of theirs is lost, and once, though it is asked for again. A call with a base is done only when its plan is still the one that was
// shown.
func change[In any](f *files, name, description string, a sdk.Annotations, op operation[In]) tool.Func {
	do := func(p *project, ctx context.Context, in In) (answer, error) {
		unlock, err := lock.Folder(ctx, p.root)
		if err != nil {
			return answer{}, fault("change", p.dir, err)
		}
		defer unlock()
		if got, made := p.before(); made {
			return got, nil
		}
		if err := p.checkUnsaved(); err != nil {
			return answer{}, err
		}
		if p.base != "" {
			now, err := op.plan(p, ctx, in)
			if err == nil {
				err = p.agree(now, p.base)
			}
			if err != nil {
				return answer{}, err
			}
		}
		return op.do(p, ctx, in)
	}
	return serve(f, name, description, a, do).StagedBy(func(ctx context.Context, call sdk.Invocation) (sdk.Staged, error) {
		var in In
		if err := sdk.ReadJSON(call.Arguments, &in); err != nil {
			return sdk.Staged{}, sdk.Errorf(sdk.Validation, "the arguments of %s: %w", name, err)
		}
		p, err := openProject(call.Project)
		if err != nil {
			return sdk.Staged{}, err
		}
		defer p.close()
		p.rules, p.most, p.staging, p.held = f.rulesOf(call), f.config.MaxFileBytes, true, heldPaths(call.RunDir)
		p.unsaved, p.unsure, p.given = call.Unsaved, call.Unsure, givenOf(call)
		if err := p.checkUnsaved(); err != nil {
			return sdk.Staged{}, err
		}
		planned, err := op.plan(p, ctx, in)
		if err != nil {
			return sdk.Staged{}, err
		}
		return sdk.Staged{Diff: planned.patch.String(), Base: planned.base()}, nil
	}).Settled(settle)
}
