package engine

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

// Keep says when runs rest, and how long those are kept that do. Zero is for ever.
type Keep struct {
	Sandbox time.Duration // a run's container; its home stays
	Run     time.Duration // the run itself

	Rest        time.Duration // until a run rests that was given no prompt; zero is never
	ChannelRest time.Duration // the same of a run that a channel began

	UndoSize int64         // bytes of contents that were replaced
	Undo     time.Duration // for how long those are kept that nobody used
}

// Expire is one pass over the runs that rest. Those that rested longer than
// keep.Run are deleted; of those that rested longer than keep.Sandbox the
// sandbox is dropped, once in a rest. Then goes what no run sees any more. A
// pass may end anywhere and the next one takes up what it left. The error
// joins what failed; it kept nothing else from being done. Nothing goes while
// the store is frozen.
func (e *Engine) Expire(ctx context.Context, keep Keep) error {
	if e.cfg.Frozen {
		return nil
	}
	leave, err := e.enter()
	if err != nil {
		return err
	}
	defer leave()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(e.draining, func() { cancel(errStopping) })()

	failed := []error{
		e.expireOlder(ctx, keep.Run, func(r sdk.Run, event sdk.RunEvent) error {
			if r.Delegator != 0 || r.Keeper() {
				return nil // it goes with its parent, or never: a channel would begin anew
			}
			return e.eraseAll(ctx, event, fmt.Sprintf("rested for longer than %s", days(keep.Run)))
		}),
		e.expireOlder(ctx, keep.Sandbox, func(r sdk.Run, event sdk.RunEvent) error { return e.dropSandbox(ctx, r, event) }),
		e.sweep(ctx),
		e.pruneUndo(keep),
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return errors.Join(failed...)
}

// pruneUndo lets go of replaced contents. What would need them cannot be taken back any more.
func (e *Engine) pruneUndo(keep Keep) error {
	removed, err := kept.In(e.cfg.DataDir).Prune(keep.UndoSize, keep.Undo)
	if removed > 0 {
		e.log.Info("contents that were replaced are kept no longer", "files", removed)
	}
	return err
}

// expireOlder does something to each run that rests for longer than age. One
// that began to work meanwhile is left alone.
func (e *Engine) expireOlder(ctx context.Context, age time.Duration, do func(sdk.Run, sdk.RunEvent) error) error {
	if age <= 0 {
		return nil
	}
	before := e.cfg.Clock().Add(-age)
	resting, err := e.cfg.Store.Resting(ctx, before)
	if err != nil {
		return err
	}
	var failed []error
	for _, r := range resting {
		if ctx.Err() != nil {
			break
		}
		err := e.still(ctx, r.ID, "expired", func(now sdk.Run, event sdk.RunEvent) error {
			if !now.Updated.Before(before) {
				return nil
			}
			return do(now, event)
		})
		if outcome := sdk.OutcomeOf(err); err != nil && outcome != sdk.Conflict && outcome != sdk.NotFound {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// dropSandbox tells of a run's expiry and records it, unless this rest has it
// on record. What could not be dropped is tried again in the next pass.
func (e *Engine) dropSandbox(ctx context.Context, r sdk.Run, event sdk.RunEvent) error {
	last, err := e.cfg.Store.Journal(ctx, sdk.JournalQuery{
		Run: r.ID, Kinds: []string{sdk.KindRunExpired, sdk.KindLoopQueued, sdk.KindTurnOpened}, Newest: true, Limit: 1, Heads: true,
	})
	if err != nil || len(last) > 0 && last[0].Kind == sdk.KindRunExpired {
		return err
	}
	if err := e.cfg.Hooks.RunExpired.Tell(ctx, event); err != nil {
		return fmt.Errorf("expire the run %s: %w", r.Alias, err)
	}
	_, err = e.commit(ctx, once, sdk.Change{Run: r.ID, Notes: []sdk.Note{{Kind: sdk.KindRunExpired}}})
	return err
}

// days writes a time that people give in days.
func days(d time.Duration) string {
	if n := int(d / (24 * time.Hour)); n == 1 {
		return "a day"
	} else if n > 1 {
		return fmt.Sprintf("%d days", n)
	}
	return d.String()
}
