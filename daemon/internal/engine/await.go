package engine

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// await waits until somebody decides on an action that a person has to decide
// on. The run is 202 as long. The decision is a commit of its own: phase
// approved lets the action start, an ended state is its end.
func (e *Engine) await(ctx context.Context, a *activeLoop, x *action) error {
	if err := e.moveRun(ctx, a, sdk.StatusProposed); err != nil {
		return err
	}
	for {
		changed := e.cfg.Store.Changed()
		entry, err := e.cfg.Store.Entry(ctx, a.run.ID, x.path)
		if err != nil {
			return fmt.Errorf("read the action that waits: %w", err)
		}
		if entry.State != sdk.StateProposed {
			x.follow(entry)
			x.recheck, x.breaking = true, x.failed() // a refusal gives up the rest of the turn
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-e.draining.Done():
			return errStopping
		}
	}
	return e.moveRun(ctx, a, sdk.StatusRunning)
}

// moveRun puts the run at 202 while a person is waited for, and back at 102.
func (e *Engine) moveRun(ctx context.Context, a *activeLoop, status int) error {
	if a.run.Status == status {
		return nil
	}
	if _, err := e.commitEnd(ctx, sdk.Change{Run: a.run.ID, Status: status}); err != nil {
		return fmt.Errorf("record that the run waits or goes on: %w", err)
	}
	a.run.Status = status
	return nil
}

// askAgain asks policy anew about actions that were recorded some time ago and
// have not started: what was allowed then may not be now.
func (e *Engine) askAgain(a *activeLoop) {
	for _, x := range a.turn.actions {
		if !x.recheck || x.started || x.ended() || x.waiting() {
			continue
		}
		x.recheck = false
		if x.fault != nil {
			x.refuse(sdk.OutcomeOf(x.fault), x.fault.Error())
			continue
		}
		x.decision = e.cfg.Policy.Decide(sdk.Action{Tool: x.tool, Arguments: x.arguments, Project: x.project, Mode: a.loop.Mode})
		approved := x.decision.Verdict == sdk.Propose && x.entry.Phase == sdk.PhaseApproved
		if x.entry.Phase == sdk.PhaseApproved {
			failpoint.Hit(failpoint.ApprovedAfter) // also when it was approved before this daemon began
		}
		if x.decision.Verdict != sdk.Allow && !approved {
			x.refuse(sdk.Permission, fmt.Sprintf("refused by rule %q: %s", x.decision.Rule, x.decision.Reason))
		}
	}
}
