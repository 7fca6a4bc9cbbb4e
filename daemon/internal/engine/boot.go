package engine

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// boot ends what a dead daemon left at 102, as interrupted, and wakes the runs
// that have something to do. Nothing of it runs again: an action that had
// begun may have had its effect.
func (e *Engine) boot(ctx context.Context) error {
	loops, err := e.cfg.Store.Unfinished(ctx)
	if err != nil {
		return err
	}
	for _, l := range loops {
		if err := e.closeLeftTurns(ctx, l.Run); err != nil {
			return err
		}
		end := sdk.LoopEnd{Loop: l.ID, Status: sdk.StatusAborted, Stop: stopInterrupted,
			Reason: "the daemon ended while this prompt was being worked on; give the prompt again to go on"}
		if _, err := e.commit(ctx, sdk.Change{Run: l.Run, EndLoop: &end}); err != nil {
			return fmt.Errorf("end loop %d of run %d: %w", l.Sequence, l.Run, err)
		}
		e.log.Info("ended a loop that was left running", "run", l.Run, "loop", l.Sequence)
	}
	open, err := e.cfg.Store.OpenTurns(ctx) // tool calls that no prompt caused
	if err != nil {
		return err
	}
	for _, run := range open {
		if err := e.closeLeftTurns(ctx, run); err != nil {
			return err
		}
	}
	runs, err := e.cfg.Store.Queued(ctx)
	if err != nil {
		return err
	}
	for _, run := range runs {
		e.wake(run)
	}
	return nil
}

// closeLeftTurns closes the turns of a run that are still open although no
// work of this process is in it, and gives their actions an end: one that had
// started was interrupted, one that had not is aborted.
func (e *Engine) closeLeftTurns(ctx context.Context, run int64) error {
	turns, err := e.cfg.Store.Turns(ctx, run)
	if err != nil {
		return err
	}
	for _, t := range turns {
		if t.Closed {
			continue
		}
		entries, err := e.cfg.Store.Entries(ctx, run, fmt.Sprintf("log://turn_%d/**", t.Sequence))
		if err != nil {
			return err
		}
		change := sdk.Change{Run: run, CloseTurn: &t}
		for _, entry := range entries {
			if entry.Phase != sdk.PhaseNone && entry.Phase != sdk.PhaseEnded {
				change.Writes = append(change.Writes, leftAction(entry))
			}
		}
		if _, err := e.commit(ctx, change); err != nil {
			return fmt.Errorf("close turn %d of run %d: %w", t.Sequence, run, err)
		}
	}
	return nil
}

func leftAction(entry sdk.Entry) sdk.Write {
	w := sdk.Write{Path: entry.Path, Writer: sdk.WriterSystem, Expect: entry.Phase,
		Phase: sdk.PhaseEnded, State: sdk.StateFailed, Outcome: sdk.Aborted}
	reason := "the daemon ended before this call was made"
	if entry.Phase == sdk.PhaseStarted {
		w.Outcome = sdk.Interrupted
		reason = "the daemon ended while this call ran; what it did is unknown"
		if entry.Body == "" {
			w.Body = &reason // else the output so far is kept
		}
	} else {
		w.Body = &reason
	}
	w.Attributes = encode(map[string]string{"error": reason})
	return w
}
