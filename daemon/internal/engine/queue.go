package engine

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TakeBack takes a prompt out of its run's queue, by its number in the run, when no work
// on it has begun; its text comes back, so that it can be written anew. One that is at
// work or has ended stays, and the answer says how it is. With the last of the prompts
// that are held the hold ends.
func (e *Engine) TakeBack(ctx context.Context, run int64, prompt int) (rpc.TakenBack, error) {
	letGo, err := e.alone(run)
	if err != nil {
		return rpc.TakenBack{}, err
	}
	defer letGo()
	r, err := e.cfg.Store.Run(ctx, run)
	if err != nil {
		return rpc.TakenBack{}, err
	}
	l, waiting, err := e.promptOf(ctx, r, prompt)
	if err != nil {
		return rpc.TakenBack{}, err
	}
	taken := false
	if l.Status == sdk.StatusQueued {
		err := e.endQueued(ctx, r, l, waiting == 1)
		if err != nil && sdk.OutcomeOf(err) != sdk.Conflict { // a conflict: it has begun just now
			return rpc.TakenBack{}, err
		}
		taken = err == nil
		if l, _, err = e.promptOf(ctx, r, prompt); err != nil {
			return rpc.TakenBack{}, err
		}
	}
	o := optionsOf(l)
	if taken {
		e.askers.forget(o.Asker)
	}
	return rpc.TakenBack{
		Run: r.Alias, ID: r.ID, Loop: l.ID, Sequence: l.Sequence, Taken: taken, Status: l.Status, Prompt: l.Prompt, Attachments: o.Attachments, Media: o.Media, Schema: o.Schema,
		ReadOnly: l.ReadOnly, Agent: l.Agent, Model: l.Model, Mode: o.Mode,
	}, nil
}

// alone keeps everybody else from the prompts of a run, and the engine from ending, until letGo is called.
func (e *Engine) alone(run int64) (letGo func(), err error) {
	leave, err := e.enter()
	if err != nil {
		return nil, err
	}
	b, giveBack := e.book(run)
	b.submit.Lock()
	return func() { b.submit.Unlock(); giveBack(); leave() }, nil
}

// promptOf is a prompt of a run by its number, and how many of the run wait.
func (e *Engine) promptOf(ctx context.Context, run sdk.Run, prompt int) (found sdk.Loop, waiting int, err error) {
	loops, err := e.cfg.Store.Loops(ctx, run.ID)
	if err != nil {
		return found, 0, err
	}
	for _, l := range loops {
		if l.Sequence == prompt {
			found = l
		}
		if l.Status == sdk.StatusQueued {
			waiting++
		}
	}
	if found.ID == 0 {
		return found, 0, sdk.Errorf(sdk.NotFound, "the run %s has no prompt %d", run.Alias, prompt)
	}
	return found, waiting, nil
}

// endQueued ends a prompt that no work has begun on. No model reads it any more.
func (e *Engine) endQueued(ctx context.Context, run sdk.Run, l sdk.Loop, last bool) error {
	end := ending{status: sdk.StatusAborted, stop: sdk.StopTaken, reason: "taken back before any work on it"}
	change := sdk.Change{
		Run:     run.ID,
		EndLoop: &sdk.LoopEnd{Loop: l.ID, Status: end.status, Stop: end.stop, Reason: end.reason, Waiting: true},
		Writes: []sdk.Write{{
			Path: fmt.Sprintf("prompt://%d", l.Sequence), Writer: sdk.WriterPlugin, State: sdk.StateCancelled, Outcome: sdk.Aborted, Loop: l.ID,
		}},
	}
	held, err := e.held(ctx, run.ID)
	if err != nil {
		return err
	}
	if held && last {
		change.Writes = append(change.Writes, holdWrite(false))
	}
	if _, err := e.commit(ctx, once, change); err != nil {
		return err
	}
	project, err := e.cfg.Store.Project(ctx, run.Project)
	if err == nil { // who heard of the prompt hears of its end
		e.tellLoopEnd(context.WithoutCancel(ctx), &activeLoop{project: project, run: run, loop: l}, end)
	}
	return nil
}

// AbortHeld is Abort, and the prompts of the run that wait do not go on after it: they
// are held, through restarts of the daemon, until Release is called or the last of them
// is taken back. Prompts that come later wait behind them. Nothing is held of a run in
// which none waits. It answers how many are.
func (e *Engine) AbortHeld(ctx context.Context, run int64) (int, error) {
	waiting, err := e.hold(ctx, run)
	if err != nil {
		return 0, err
	}
	if err := e.Abort(ctx, run); err != nil && (waiting == 0 || sdk.OutcomeOf(err) != sdk.Conflict) {
		return waiting, err
	}
	return waiting, nil
}

func (e *Engine) hold(ctx context.Context, run int64) (int, error) {
	letGo, err := e.alone(run)
	if err != nil {
		return 0, err
	}
	defer letGo()
	waiting, err := e.waiting(ctx, run)
	if err != nil || waiting == 0 {
		return 0, err
	}
	if _, err := e.commit(ctx, once, sdk.Change{Run: run, Writes: []sdk.Write{holdWrite(true)}}); err != nil {
		return 0, fmt.Errorf("hold the prompts that wait: %w", err)
	}
	return waiting, nil
}

// Release lets the prompts go on that AbortHeld held, and answers how many there are. A
// run of which nothing is held is a conflict.
func (e *Engine) Release(ctx context.Context, run int64) (int, error) {
	letGo, err := e.alone(run)
	if err != nil {
		return 0, err
	}
	defer letGo()
	r, err := e.cfg.Store.Run(ctx, run)
	if err != nil {
		return 0, err
	}
	held, err := e.held(ctx, run)
	if err != nil {
		return 0, err
	}
	if !held {
		return 0, sdk.Errorf(sdk.Conflict, "no prompt of the run %s is held", r.Alias)
	}
	waiting, err := e.waiting(ctx, run)
	if err != nil {
		return 0, err
	}
	if _, err := e.commit(ctx, once, sdk.Change{Run: run, Writes: []sdk.Write{holdWrite(false)}}); err != nil {
		return 0, fmt.Errorf("let the prompts go on that are held: %w", err)
	}
	e.wake(run)
	return waiting, nil
}

func (e *Engine) waiting(ctx context.Context, run int64) (int, error) {
	loops, err := e.cfg.Store.Loops(ctx, run)
	n := 0
	for _, l := range loops {
		if l.Status == sdk.StatusQueued {
			n++
		}
	}
	return n, err
}

func holdWrite(held bool) sdk.Write {
	return sdk.Write{Path: sdk.HoldPath, Writer: sdk.WriterSystem, Visibility: sdk.Archived, Attributes: encode(map[string]bool{"held": held})}
}

// held reports whether the prompts of a run that wait are not begun.
func (e *Engine) held(ctx context.Context, run int64) (bool, error) {
	entry, err := e.cfg.Store.Entry(ctx, run, sdk.HoldPath)
	if err != nil && sdk.OutcomeOf(err) == sdk.NotFound {
		return false, nil
	}
	return err == nil && entry.Holds(run), err
}

// claim is what a worker was given, else the next prompt of its run, unless it is held.
// None is taken while somebody holds them, or takes one back.
func (e *Engine) claim(ctx context.Context, w *worker) (next, error) {
	if n := e.takeFirst(w); n.loop.ID != 0 {
		return n, nil
	}
	b, giveBack := e.book(w.run)
	defer giveBack()
	b.submit.Lock()
	defer b.submit.Unlock()
	held, err := e.held(ctx, w.run)
	if err != nil || held {
		e.mu.Lock()
		w.abort = w.abort && !held // no loop is about to begin
		e.mu.Unlock()
		return next{}, err
	}
	l, _, err := e.cfg.Store.ClaimLoop(ctx, w.run)
	return next{loop: l}, err
}
