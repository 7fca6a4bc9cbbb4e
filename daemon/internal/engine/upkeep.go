package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
)

// When the runs that rest are looked at: soon after the start, when the daemon
// has answered its first call, and then every hour.
const (
	firstUpkeep = time.Minute
	nextUpkeep  = time.Hour
)

// Upkeep has runs rest, tells plugins of it, and lets those that rest expire, again and again, until ctx ends. keep is asked
// each time how long they are kept.
func (e *Engine) Upkeep(ctx context.Context, keep func() Keep) {
	if e.cfg.Frozen {
		return
	}
	u := &upkeep{expire: e.Expire, keep: keep, after: time.After, log: e.log.Named("upkeep")}
	if failpoint.Enabled { // a test of a crash in it does not wait for a minute
		u.after = func(wait time.Duration) <-chan time.Time { return time.After(wait / 600) }
	}
	var rests sync.WaitGroup
	rests.Go(func() { e.followRests(ctx, keep) })
	defer rests.Wait()
	u.run(ctx)
}

// upkeep is when runs that rest are looked at.
type upkeep struct {
	expire func(context.Context, Keep) error
	keep   func() Keep // as it is configured at that moment
	after  func(time.Duration) <-chan time.Time
	log    hclog.Logger
}

// run makes pass after pass until ctx ends. One that fails is logged; the next
// takes up what it left.
func (u *upkeep) run(ctx context.Context) {
	for wait := firstUpkeep; ; wait = nextUpkeep {
		select {
		case <-u.after(wait):
		case <-ctx.Done():
			return
		}
		err := u.expire(ctx, u.keep())
		if err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
			u.log.Warn("not all that rested for too long could be removed; it is tried again in an hour", "error", err)
		}
	}
}
