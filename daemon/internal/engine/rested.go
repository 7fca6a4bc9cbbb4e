package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/daemon/internal/guard"
	"github.com/bothyd/bothy/sdk"
)

// tellRest tells a plugin of a rest, as a call for which it may ask for services, and notes that it has heard. It holds no lock:
// the run may go on, and rest again, meanwhile. Of a run that is gone there is nothing to tell.
func (e *Engine) tellRest(ctx context.Context, o sdk.OwedRest) error {
	leave, err := e.enter()
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.draining, func() { cancel(errStopping) })()
	a := &activeLoop{loop: sdk.Loop{Run: o.Run}}
	switch err := e.restOf(ctx, a, o); {
	case sdk.OutcomeOf(err) == sdk.NotFound:
		return e.cfg.Store.Heard(ctx, o)
	case err != nil:
		return err
	}
	rest := sdk.Rest{ID: fmt.Sprintf("%s-rest-%d", a.run.Key, o.To), Run: a.run.ForHook(), RunDir: e.runDir(a.run), From: o.From, To: o.To, Why: o.Why}
	if !a.run.Private {
		rest.Project = a.project.Root
	}
	a.paid = -e.tellings.Add(1)
	e.guards.Begin(a.paid, guard.Loop{Rules: e.narrowing(a.project.Root).Guards(a.agent.Guards)})
	defer e.guards.End(a.paid)
	x := &action{Action: sdk.Action{Loop: a.loop.ID, ActionCall: sdk.ActionCall{Tool: restTool}}, tool: e.restToolOf(o.Plugin), project: a.project.Root, folder: e.folder(a.run)}
	endServing := e.serves.begin(ctx, nil, rest.Call(o.Plugin), a, x)
	failpoint.Hit(failpoint.RestTelling)
	err = e.cfg.Hooks.RunRested.TellOne(ctx, o.Plugin, rest)
	endServing()
	if err != nil {
		return err
	}
	failpoint.Hit(failpoint.RestTold)
	return e.cfg.Store.Heard(ctx, o)
}

// restTool is what the call in which a plugin is told of a rest goes by, where a call goes by its tool.
const restTool = "run.rested"

// restToolOf has what a plugin does at a rest count as what its tools do: nothing vouches for it unless they are pinned.
func (e *Engine) restToolOf(plugin string) sdk.Tool {
	pinned := slices.ContainsFunc(e.cfg.Tools.Tools(), func(t sdk.Tool) bool { return t.Plugin == plugin && t.Pinned })
	return sdk.Tool{ToolSpec: sdk.ToolSpec{Name: restTool}, Plugin: plugin, Pinned: pinned}
}

// restOf finds the last prompt that a rest reached, and its agent. An agent that nothing tells of any more bounds nothing.
func (e *Engine) restOf(ctx context.Context, a *activeLoop, o sdk.OwedRest) error {
	if err := e.locate(ctx, a); err != nil {
		return err
	}
	loops, err := e.cfg.Store.Loops(ctx, o.Run)
	if err != nil {
		return err
	}
	for _, l := range loops {
		if l.Sequence == o.To {
			a.loop = l
		}
	}
	if a.agent, err = e.keptAgent(ctx, a); err != nil {
		e.log.Warn("the agent of a run that rests is not known any more, so that nothing bounds what its rest costs", "run", a.run.Alias, "error", err)
	}
	a.agent = a.agent.In(a.run)
	e.options(a)
	return nil
}

// rests reports whether what a plugin serves is a rest of a run, in which no tool is called and no run is begun.
func (s *serving) rests() bool { return s.a.turn == nil }

// errRests refuses what a plugin may not ask for when it is told that a run rests.
func errRests(what string) error {
	return sdk.Errorf(sdk.Permission, "the run rests, and %s while a plugin is told of it: entries can be read and written, and models asked", what)
}

// account is the loop whose guards bound what is asked of models.
func (a *activeLoop) account() int64 {
	if a.paid != 0 {
		return a.paid
	}
	return a.loop.ID
}

// tellsAbroad refuses to tell a model elsewhere at a rest what the run told only one on this machine.
func (e *Engine) tellsAbroad(ctx context.Context, now *serving, choice sdk.ModelChoice) error {
	if !now.rests() || choice.Local {
		return nil
	}
	own, err := e.cfg.Models.Resolve(ctx, now.a.loop.Model)
	if err == nil && own.Local {
		err = sdk.Errorf(sdk.Permission, "%s is not on this machine, and what the run %s told its model, %s, never left it: ask that one, or another one here", choice.Alias, now.a.run.Alias, own.Alias)
	}
	return err
}
