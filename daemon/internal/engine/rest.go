package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// RestStore is what rests need of the store.
type RestStore interface {
	// Unrested are the runs that have prompts which no rest reached, in which nothing was done since, nor is to be done.
	Unrested(ctx context.Context, before time.Time, which sdk.Unrested) ([]sdk.Run, error)
	// Rest notes that a run rests, and which plugins are owed the news; false where nothing was said since it rested last.
	Rest(ctx context.Context, run int64, why string, plugins []string) (bool, error)
	Leave(ctx context.Context, run int64) error
	Owed(ctx context.Context) ([]sdk.OwedRest, error)
	Heard(ctx context.Context, o sdk.OwedRest) error
	// Conversation is the run in which one goes on; false is that it rests.
	Conversation(ctx context.Context, project int64, of sdk.Origin, conversation string) (sdk.Run, bool, error)
}

// conversationOf is the conversation whose run a prompt is for, by the channel that names no run; empty is none.
func conversationOf(s Submission) string {
	if s.Origin.Channel == "" || s.From == nil || s.Run != "" {
		return ""
	}
	return s.From.Name()
}

// conversationKey is what a conversation is held by while a prompt is queued in it; empty is none. No key of a prompt is like it.
func (s Submission) conversationKey() string {
	if s.conversation == "" {
		return ""
	}
	return "conversation " + s.Project + " " + s.Origin.Channel + " " + s.Origin.Owner + " " + s.conversation
}

// How often it is looked which runs come to rest: each minute, where they rest sooner as soon as that, and when other settings count.
const (
	restLook     = time.Minute
	soonestLook  = time.Second
	settingsLook = 5 * time.Second // how often it is looked for these
)

// followRests has runs rest in which nobody goes on, and tells plugins of it, until ctx ends. keep is asked each time how
// long nothing has to be said.
func (e *Engine) followRests(ctx context.Context, keep func() Keep) {
	var telling sync.WaitGroup
	telling.Go(func() { e.owed.Run(ctx) })
	defer telling.Wait()
	for {
		k := keep()
		if err := e.restOlder(ctx, k); err != nil && ctx.Err() == nil {
			e.log.Warn("not all runs that come to rest could be found; they are looked for again", "error", err)
		}
		wait := restLook
		for _, rest := range []time.Duration{k.Rest, k.ChannelRest} {
			if rest > 0 {
				wait = min(wait, max(rest, soonestLook))
			}
		}
		for due := time.Now().Add(wait); time.Now().Before(due) && keep() == k; {
			select {
			case <-time.After(min(time.Until(due), settingsLook)):
			case <-ctx.Done():
				return
			}
		}
	}
}

// restOlder is one look: it has each run rest in which nothing was said for long enough, and those that were left while
// something of them was open.
func (e *Engine) restOlder(ctx context.Context, keep Keep) error {
	leave, err := e.enter()
	if err != nil {
		return nil //nolint:nilerr // the daemon stops, or nothing can be recorded: it is looked again
	}
	defer leave()
	now := e.cfg.Clock()
	var failed []error
	for _, of := range []struct {
		which sdk.Unrested
		after time.Duration
		why   string
	}{
		{sdk.UnrestedLeft, 0, sdk.RestLeft}, {sdk.UnrestedHere, keep.Rest, sdk.RestIdle}, {sdk.UnrestedChannels, keep.ChannelRest, sdk.RestIdle},
	} {
		if of.why == sdk.RestIdle && of.after <= 0 {
			continue // for ever
		}
		before := now.Add(-of.after)
		runs, err := e.cfg.Store.Unrested(ctx, before, of.which)
		failed = append(failed, err)
		for _, r := range runs {
			if ctx.Err() != nil {
				break
			}
			_, err := e.restRun(ctx, r.ID, of.why, before)
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// Leave says that nobody goes on with a run, and has it rest; where something of it, or of what it delegated, is open, it rests
// when that is over. rested says whether it rests now. A child rests with its parent, whoever leaves it.
func (e *Engine) Leave(ctx context.Context, run int64) (rested bool, err error) {
	leave, err := e.enter()
	if err != nil {
		return false, err
	}
	defer leave()
	r, err := e.cfg.Store.Run(ctx, run)
	if err != nil || r.Delegator != 0 || r.Hidden {
		return false, err
	}
	if err := e.cfg.Store.Leave(ctx, run); err != nil {
		return false, err
	}
	return e.restRun(ctx, run, sdk.RestLeft, time.Time{})
}

// restRun has a run rest in which nothing is open, nor in one of its children, and in which nothing was done since a time;
// the zero time is any. A run that works or is gone is left alone.
func (e *Engine) restRun(ctx context.Context, id int64, why string, before time.Time) (rested bool, err error) {
	err = e.still(ctx, id, "left", func(r sdk.Run, event sdk.RunEvent) error {
		if !before.IsZero() && !r.Updated.Before(before) {
			return nil
		}
		return e.stillBelow(ctx, r.ID, "left", func([]sdk.RunEvent) (err error) {
			rested, err = e.rest(ctx, r, event, why)
			return err
		})
	})
	if outcome := sdk.OutcomeOf(err); outcome == sdk.Conflict || outcome == sdk.NotFound {
		return false, nil
	}
	return rested, err
}

// rest notes that a run rests which is held still, and tells plugins of it. That of a channel is over: its container goes,
// and its conversation goes on in another run.
func (e *Engine) rest(ctx context.Context, r sdk.Run, event sdk.RunEvent, why string) (bool, error) {
	if r.Channel != "" {
		if err := e.dropSandbox(ctx, r, event); err != nil {
			e.log.Warn("the container of a run that rests could not be dropped; it goes when the run expires", "run", r.Alias, "error", err)
		}
	}
	failpoint.Hit(failpoint.RestBefore)
	rested, err := e.cfg.Store.Rest(ctx, r.ID, why, e.cfg.Hooks.RunRested.Owners())
	if err != nil || !rested {
		return false, err
	}
	failpoint.Hit(failpoint.RestAfter)
	e.owed.More()
	return true, nil
}
