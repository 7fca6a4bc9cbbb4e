package engine

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// boot finds what an earlier daemon left: loops at 102, which go on, calls of
// clients, which nobody waits for any more, and queued loops. It reads all of
// that before any work begins, so that nothing is at work when it fails.
func (e *Engine) boot(ctx context.Context) error {
	failpoint.Hit(failpoint.RecoverBegin)
	loops, err := e.cfg.Store.Unfinished(ctx)
	if err != nil {
		return err
	}
	turns, err := e.leftTurns(ctx, loops)
	if err != nil {
		return err
	}
	runs, err := e.cfg.Store.Queued(ctx)
	if err != nil {
		return err
	}
	streams, err := e.cfg.Store.Streaming(ctx)
	if err != nil {
		return err
	}
	if len(streams) > 0 {
		e.busy.Go(func() { e.clients.Left(e.base, streams) })
	}
	for _, row := range turns {
		e.busy.Go(func() {
			if err := e.closeLeft(e.base, row); err != nil {
				e.log.Error("a turn that was left open could not be closed; it is tried again at the next start", "run", row.Run, "turn", row.Sequence, "error", err)
			}
		})
	}
	orphans := map[int64]bool{}
	children := map[int64]bool{} // that the calls wait for which began them
	for _, l := range loops {
		if children[l.ID], orphans[l.ID], err = e.awaited(ctx, l, loops); err != nil {
			return err
		}
	}
	for _, l := range loops {
		if children[l.ID] {
			continue
		}
		e.log.Info("going on with a loop that was left running", "run", l.Run, "loop", l.Sequence)
		e.wakeWith(l.Run, next{loop: l, left: true})
		if orphans[l.ID] {
			e.endWork(l)
		}
	}
	for _, run := range runs {
		e.wake(run)
	}
	return nil
}

// leftTurns are the open turns that belong to no loop at work: a client's own
// tool call, or a turn that could not be closed.
func (e *Engine) leftTurns(ctx context.Context, loops []sdk.Loop) ([]sdk.Turn, error) {
	running := map[int64]bool{}
	for _, l := range loops {
		running[l.ID] = true
	}
	runs, err := e.cfg.Store.OpenTurns(ctx)
	if err != nil {
		return nil, err
	}
	var left []sdk.Turn
	for _, run := range runs {
		turns, err := e.cfg.Store.Turns(ctx, run)
		if err != nil {
			return nil, err
		}
		for _, row := range turns {
			if !row.Closed && !running[row.Loop] {
				left = append(left, row)
			}
		}
	}
	return left, nil
}

// closeLeft closes a turn that nobody goes on with. A call that had begun gets
// the result that its tool still knows; one that had not is not made.
func (e *Engine) closeLeft(ctx context.Context, row sdk.Turn) error {
	a := &activeLoop{loop: sdk.Loop{Run: row.Run}}
	if err := e.locate(ctx, a); err != nil {
		return err
	}
	entries, err := e.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: row.Run, Pattern: sdk.TurnPattern(row.Sequence)})
	if err != nil {
		return err
	}
	had := leftTurn{row: row}
	for _, entry := range entries {
		had.take(entry)
	}
	a.turn = had.turn(a.project.Root, e.folder(a.run))
	e.settleLeft(ctx, a)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	change := sdk.Change{Run: row.Run, CloseTurn: a.turn.closing()}
	const before = "the daemon ended before"
	swept := a.turn.sweep(ending{reason: before})
	unasked := e.leaveUnasked(a.turn, before)
	e.mark(a, swept)
	change.Writes = append(endWrites(swept), unasked...)
	failpoint.Hit(failpoint.RecoverSettled)
	if _, err := e.commit(ctx, happened, change); err != nil {
		return err
	}
	failpoint.Hit(failpoint.RecoverRecorded)
	return nil
}
