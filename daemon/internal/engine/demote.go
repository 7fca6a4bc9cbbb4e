package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// demote records what a view took out of sight so that a prompt fits, in one commit before the prompt is sent. That it was too
// long is nobody's failure: guards do not hear of it.
func (e *Engine) demote(ctx context.Context, a *activeLoop, writes []sdk.Write) error {
	if len(writes) == 0 {
		return nil
	}
	failpoint.Hit(failpoint.DemoteBefore)
	receipt, err := e.commit(ctx, ahead, sdk.Change{Run: a.run.ID, Writes: writes})
	if stale(err) { // what somebody removed meanwhile needs it no more
		writes = slices.DeleteFunc(slices.Clone(writes), func(w sdk.Write) bool {
			_, err := e.cfg.Store.Entry(ctx, a.run.ID, w.Path)
			return w.Look && sdk.OutcomeOf(err) == sdk.NotFound && err != nil
		})
		receipt, err = e.commit(ctx, ahead, sdk.Change{Run: a.run.ID, Writes: writes})
	}
	if err != nil {
		return fmt.Errorf("record what was taken out of sight: %w", err)
	}
	failpoint.Hit(failpoint.DemoteAfter)
	a.turn.sent.Demoted(receipt.Seq)
	e.tellOverflow(ctx, a, receipt.Entries)
	return nil
}

// settleSight is what the turn that is over demotes of what it brought into sight, so that the next prompt fits: it is part of the
// commit that closes the turn. Where it cannot be known, the next prompt is fitted all the same.
func (e *Engine) settleSight(ctx context.Context, a *activeLoop) []sdk.Write {
	view, settles := e.viewOf(a).(Settler)
	if !settles || a.turn == nil || a.turn.of.Turn == 0 {
		return nil
	}
	next := a.turn.of
	next.Turn++
	var writes []sdk.Write
	var err error
	if next.Entries, err = a.mirror.Refresh(ctx); err == nil {
		writes, err = view.Settle(ctx, next, a.turn.prompt)
	}
	if err != nil {
		e.log.Debug("whether the next prompt fits is not known yet", "run", a.run.Alias, "error", err)
	}
	if len(writes) > 0 {
		failpoint.Hit(failpoint.SettleBefore)
	}
	return writes
}

// tellOverflow tells of the entries that say what was demoted, and why.
func (e *Engine) tellOverflow(ctx context.Context, a *activeLoop, written []sdk.Entry) {
	for _, entry := range written {
		if entry.State == sdk.StateFailed && entry.Outcome == sdk.Overflow {
			e.cfg.Hooks.ErrorLog.Emit(ctx, sdk.EntryEvent{Run: a.run.ID, Entry: entry})
		}
	}
}
