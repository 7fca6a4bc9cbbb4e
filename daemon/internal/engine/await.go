package engine

import (
	"context"
	"fmt"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/daemon/internal/proposal"
	"github.com/bothyd/bothy/sdk"
)

// lookTime is how often the clock is looked at while a proposal waits. It may
// leap, so no timer can wait for it.
const lookTime = 30 * time.Second

// await waits until somebody decides on an action that a person has to decide
// on, or it expires. The run is 202 as long. The decision is a commit of its
// own: phase approved lets the action start, an ended state is its end.
func (e *Engine) await(ctx context.Context, a *activeLoop, x *action) error {
	if err := e.moveRun(ctx, a, sdk.StatusProposed); err != nil {
		return err
	}
	for {
		changed := e.cfg.Store.Changed()
		entry, err := e.cfg.Store.Entry(ctx, a.run.ID, x.Path)
		if err != nil {
			return fmt.Errorf("read the action that waits: %w", err)
		}
		x.follow(entry)
		if entry.State != sdk.StateProposed {
			x.recheck = true
			break
		}
		left := x.left(e.cfg.Clock())
		if left <= 0 {
			if err := e.expireProposal(ctx, a, x); err != nil {
				return err
			}
			continue
		}
		select {
		case <-changed:
		case <-time.After(min(left, lookTime)):
		case <-ctx.Done():
		case <-e.draining.Done():
		}
		if err := context.Cause(ctx); err != nil {
			return err
		}
		if e.draining.Err() != nil {
			return errStopping
		}
	}
	return e.moveRun(ctx, a, sdk.StatusRunning)
}

// left is how long the proposal may wait yet. One that an earlier version made
// waits for ever.
func (x *action) left(now time.Time) time.Duration {
	if x.Proposal == nil {
		return lookTime
	}
	return x.Proposal.Expires.Sub(now)
}

// expireProposal ends an action that nobody decided on in time, unless somebody
// just did.
func (e *Engine) expireProposal(ctx context.Context, a *activeLoop, x *action) error {
	waited := days(x.Proposal.Expires.Sub(x.Proposal.Created))
	w := proposal.Expire(x.entry, waited)
	if x.Asks {
		w = proposal.Unanswered(x.entry, waited)
	}
	_, err := e.commit(ctx, happened, sdk.Change{Run: a.run.ID, Writes: []sdk.Write{w}})
	if err != nil && sdk.OutcomeOf(err) != sdk.Conflict {
		return fmt.Errorf("record that a proposal expired: %w", err)
	}
	return nil
}

// moveRun puts the run at 202 while a person is waited for, and back at 102.
func (e *Engine) moveRun(ctx context.Context, a *activeLoop, status int) error {
	if a.run.Status == status {
		return nil
	}
	if _, err := e.commit(ctx, happened, sdk.Change{Run: a.run.ID, Status: status}); err != nil {
		return fmt.Errorf("record that the run waits or goes on: %w", err)
	}
	a.run.Status = status
	return nil
}

// askAgain asks policy anew about actions that were recorded some time ago and
// have not started: what was allowed then may not be now. What a person agreed
// to starts only as long as it is the very same.
func (e *Engine) askAgain(ctx context.Context, a *activeLoop) {
	for _, x := range a.turn.queue() {
		if !x.recheck || x.running() || x.ended() || x.waiting() || x.Repeats != "" {
			continue
		}
		x.recheck = false
		if x.fault == nil {
			x.fault = e.equipOne(ctx, a, x) // the plugin may be another by now
		}
		if x.fault != nil {
			x.refuse(x.fault)
			continue
		}
		if x.Asks { // policy has no say in it
			continue
		}
		approved := x.entry.Phase == sdk.PhaseApproved
		if approved {
			failpoint.Hit(failpoint.ApprovedAfter) // also when it was approved before this daemon began
		}
		if approved && x.Proposal != nil && !e.holds(a, x) {
			continue
		}
		if x.rule(a, e.decide(a, x, approved)); !approved {
			e.acceptUnasked(ctx, a, x) // the mode may be another by now
		}
		e.begets(ctx, a, x)
	}
}

// holds checks that the action is still what a person agreed to, and ends it
// when it is not.
func (e *Engine) holds(a *activeLoop, x *action) bool {
	now, err := e.sealed(a, x)
	if err == nil {
		err = proposal.Holds(*x.Proposal, now)
	}
	if err != nil {
		x.refuse(err)
	}
	return err == nil
}
