package engine

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// RunStore is what the life of runs needs of the store, beside their work.
type RunStore interface {
	Loops(ctx context.Context, run int64) ([]sdk.Loop, error)
	Runs(ctx context.Context, f sdk.RunFilter) ([]sdk.Run, error)
	RenameRun(ctx context.Context, run int64, alias string) (sdk.Run, error)
	ConfigureRun(ctx context.Context, run int64, change func(*sdk.Run)) (sdk.Run, error)
	// DeleteRun removes a run for good; conflict while something of it is open.
	DeleteRun(ctx context.Context, run int64, reason string) (sdk.Receipt, error)
	// Resting are the runs in which nothing was done since, nor is to be done.
	Resting(ctx context.Context, before time.Time) ([]sdk.Run, error)
}

// still does something to a run that rests, and keeps it at rest: a prompt
// that comes meanwhile waits and is then queued, or finds the run gone. A run
// in which something is at work or waits is a conflict. doing is a participle for
// the message: with "reset" it says that the run cannot be reset.
func (e *Engine) still(ctx context.Context, id int64, doing string, do func(sdk.Run, sdk.RunEvent) error) error {
	b, giveBack := e.book(id)
	defer giveBack()
	b.submit.Lock()
	defer b.submit.Unlock()
	run, err := e.cfg.Store.Run(ctx, id)
	if err != nil {
		return err
	}
	if e.cfg.Frozen { // before anybody drops what the store could not tell of
		return sdk.Errorf(sdk.Unavailable, "the run %s cannot be %s: nothing is written to the database; `bothy status` says why", run.Alias, doing)
	}
	if err := e.rests(ctx, run); err != nil {
		return fmt.Errorf("the run %s cannot be %s: %w", run.Alias, doing, err)
	}
	project, err := e.cfg.Store.Project(ctx, run.Project)
	if err != nil {
		return err
	}
	return do(run, sdk.RunEvent{Run: run.ForHook(), Project: project.Root, RunDir: e.runDir(run)})
}

// Still does something to a run that rests, and keeps it at rest meanwhile. A
// run that is at work, or that a prompt waits for, is a conflict. doing is a
// participle for that message, such as "reset".
func (e *Engine) Still(ctx context.Context, run int64, doing string, do func(sdk.Run, sdk.RunEvent) error) error {
	leave, err := e.enter()
	if err != nil {
		return err
	}
	defer leave()
	return e.still(ctx, run, doing, do)
}

// StillWithChildren is Still for a run and all that was delegated in it: a prompt of one of its children that is at
// work, or waits, is a conflict too.
func (e *Engine) StillWithChildren(ctx context.Context, run int64, doing string, do func(sdk.Run, sdk.RunEvent) error) error {
	return e.Still(ctx, run, doing, func(r sdk.Run, event sdk.RunEvent) error {
		return e.stillBelow(ctx, r.ID, doing, func([]sdk.RunEvent) error { return do(r, event) })
	})
}

// stillBelow does something once all children of a run that is held still are held so, one within the other. Each stands
// behind its parent, as everywhere where several runs are held.
func (e *Engine) stillBelow(ctx context.Context, run int64, doing string, do func(below []sdk.RunEvent) error) error {
	children, err := e.cfg.Store.Runs(ctx, sdk.RunFilter{Below: run, Hidden: true})
	if err != nil {
		return err
	}
	slices.Reverse(children)
	var held []sdk.RunEvent
	var hold func() error
	hold = func() error {
		if len(held) == len(children) {
			return do(held)
		}
		return e.still(ctx, children[len(held)].ID, doing, func(_ sdk.Run, child sdk.RunEvent) error {
			held = append(held, child)
			return hold()
		})
	}
	return hold()
}

// Reset lets a run's sandbox begin anew: whoever keeps something for it, such
// as a container and its home, drops that now and is waited for. What the run
// knows stays, and so does every file of the project. A busy run is a conflict.
func (e *Engine) Reset(ctx context.Context, run int64) error {
	return e.Still(ctx, run, "reset", func(r sdk.Run, event sdk.RunEvent) error {
		if err := e.cfg.Hooks.RunReset.Tell(ctx, event); err != nil {
			return &sdk.Error{Outcome: sdk.OutcomeOf(err), Cause: err,
				Message: fmt.Sprintf("the run %s was not reset, or not wholly: %v; call it again when that is mended", r.Alias, err)}
		}
		if folder := e.folder(r); folder != "" { // also of a run in which no command ever ran
			if err := os.RemoveAll(folder); err != nil {
				return sdk.Errorf(sdk.Unavailable, "the run %s was not wholly reset: %w; call it again when that is mended", r.Alias, err)
			}
		}
		if _, err := e.commit(ctx, once, sdk.Change{Run: r.ID, Notes: []sdk.Note{{Kind: sdk.KindRunReset}}}); err != nil {
			return err
		}
		if r.Hidden || r.Delegator != 0 {
			return nil
		}
		if _, err := e.rest(ctx, r, event, sdk.RestReset); err != nil {
			e.log.Warn("that a run rests could not be noted; it rests later", "run", r.Alias, "error", err)
		}
		return nil
	})
}

// rests is nil for a run that has no open loop and no open turn.
func (e *Engine) rests(ctx context.Context, run sdk.Run) error {
	loops, err := e.cfg.Store.Loops(ctx, run.ID)
	if err != nil {
		return err
	}
	waiting := 0
	for _, l := range loops {
		if l.Status == sdk.StatusRunning {
			return sdk.Errorf(sdk.Conflict, "it is at work; wait for its end, or end it with `bothy runs abort %s`", run.Alias)
		}
		if isOpen(l) {
			waiting++
		}
	}
	if waiting > 0 {
		return sdk.Errorf(sdk.Conflict, "a prompt of it waits to be worked on; wait for its end")
	}
	turns, err := e.cfg.Store.Turns(ctx, run.ID)
	if err != nil {
		return err
	}
	for _, t := range turns {
		if !t.Closed {
			return sdk.Errorf(sdk.Conflict, "a tool is being called in it (turn %d); wait for its end", t.Sequence)
		}
	}
	return nil
}

// Rename gives a run another alias, at any time: its id, its folder and its
// sandbox go by other names. An alias that is taken is a conflict.
func (e *Engine) Rename(ctx context.Context, run int64, alias string) (sdk.Run, error) {
	leave, err := e.enter()
	if err != nil {
		return sdk.Run{}, err
	}
	defer leave()
	r, err := e.cfg.Store.Run(ctx, run)
	if err != nil {
		return r, err
	}
	if r.Hidden || keepsTools(alias) {
		return r, sdk.Errorf(sdk.Conflict, "the run %s keeps the project's tool calls: it keeps its name, and no other run takes it", toolsAlias)
	}
	return e.cfg.Store.RenameRun(ctx, run, alias)
}
