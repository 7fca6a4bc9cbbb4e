package engine

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// Reset lets a run's sandbox begin anew: whoever keeps something for it, such
// as a container and its home, drops that now and is waited for. What the run
// knows stays, and so does every file of the project. A busy run is a conflict.
func (e *Engine) Reset(ctx context.Context, run int64) error {
	leave, err := e.enter()
	if err != nil {
		return err
	}
	defer leave()
	return e.still(ctx, run, "reset", func(r sdk.Run, event sdk.RunEvent) error {
		if err := e.cfg.Hooks.RunReset.Tell(ctx, event); err != nil {
			return &sdk.Error{Outcome: sdk.OutcomeOf(err), Cause: err,
				Message: fmt.Sprintf("the run %s was not reset, or not wholly: %v; call it again when that is mended", r.Alias, err)}
		}
		_, err := e.commit(ctx, once, sdk.Change{Run: r.ID, Notes: []sdk.Note{{Kind: sdk.KindRunReset}}})
		return err
	})
}
