package engine

import (
	"context"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// Fork says what to fork. Turn 0 is the run as it is, and of one at work its last turn that has ended.
type Fork struct {
	Run   int64
	Alias string // of the new run; empty makes one up
	Turn  int
}

// Fork makes a run that begins with what another one knew after a turn: the
// same entries, none of their bodies copied but the steps of its plan, and from
// there on each goes its own way. The sandbox and the home are the new run's own and empty; the
// project's files are one for both, as they are now. Prompts that wait stay
// the parent's. Where the past cannot be had any more it is a conflict.
func (e *Engine) Fork(ctx context.Context, f Fork) (sdk.Run, error) {
	leave, err := e.enter()
	if err != nil {
		return sdk.Run{}, err
	}
	defer leave()
	child, err := e.makeFork(ctx, f)
	if err != nil {
		return child, err
	}
	project, err := e.cfg.Store.Project(ctx, child.Project)
	if err != nil {
		return child, err
	}
	e.cfg.Hooks.RunCreated.Emit(ctx, sdk.RunEvent{Run: child.ForHook(), Project: project.Root, RunDir: e.runDir(child)})
	return child, nil
}

// makeFork makes the fork while nobody gives its parent work.
func (e *Engine) makeFork(ctx context.Context, f Fork) (sdk.Run, error) {
	letGo, err := e.alone(f.Run)
	if err != nil {
		return sdk.Run{}, err
	}
	defer letGo()
	parent, err := e.cfg.Store.Run(ctx, f.Run)
	switch {
	case err != nil:
		return sdk.Run{}, err
	case f.Alias != "" && !validAlias(f.Alias):
		return sdk.Run{}, badAlias(f.Alias)
	case parent.Hidden || keepsTools(f.Alias):
		return sdk.Run{}, sdk.Errorf(sdk.Conflict, "the run %s keeps the project's tool calls: it cannot be forked, and no other run takes its name", toolsAlias)
	case f.Turn < 0:
		return sdk.Run{}, sdk.Errorf(sdk.Validation, "there is no turn %d; turns begin with 1", f.Turn)
	case f.Turn == 0:
		if f.Turn, err = e.lastEnded(ctx, parent); err != nil {
			return sdk.Run{}, err
		}
	}
	return e.cfg.Store.CreateRun(ctx, sdk.Run{Project: parent.Project, Alias: f.Alias, Parent: parent.ID, Turns: f.Turn})
}

// lastEnded is the turn before the first that is still at work; 0 of a run that rests. The caller has the run alone.
func (e *Engine) lastEnded(ctx context.Context, run sdk.Run) (int, error) {
	turns, err := e.cfg.Store.Turns(ctx, run.ID)
	if err != nil {
		return 0, err
	}
	last := run.Turns
	for _, t := range turns {
		if !t.Closed {
			last = min(last, t.Sequence-1)
		}
	}
	if last < 1 {
		return 0, sdk.Errorf(sdk.Conflict, "no turn of the run %s has ended yet, so there is nothing to fork; wait for the first, or begin another run", run.Alias)
	}
	loops, err := e.cfg.Store.Loops(ctx, run.ID)
	if err == nil && last == run.Turns && !slices.ContainsFunc(loops, isOpen) {
		last = 0
	}
	return last, err
}
