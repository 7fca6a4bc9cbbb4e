package engine

import (
	"context"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// demote records what a view took out of sight so that a prompt fits, in one commit before the prompt is sent. That it was too
// long is nobody's failure: guards do not hear of it.
func (e *Engine) demote(ctx context.Context, a *activeLoop, writes []sdk.Write) error {
	if len(writes) == 0 {
		return nil
	}
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
	for _, entry := range receipt.Entries {
		if entry.State == sdk.StateFailed {
			e.cfg.Hooks.ErrorLog.Emit(ctx, sdk.EntryEvent{Run: a.run.ID, Entry: entry})
		}
	}
	return nil
}
