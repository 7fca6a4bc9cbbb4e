package daemon

import (
	"context"
	"errors"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/failpoint"
)

// When the runs that rest are looked at: soon after the start, when the daemon
// has answered its first call, and then every hour.
const (
	firstUpkeep = time.Minute
	nextUpkeep  = time.Hour
)

// upkeep lets runs that rest expire, and goes when its time is over.
type upkeep struct {
	expire func(context.Context, engine.Keep) error
	keep   func() engine.Keep // as it is configured at that moment
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

func (d *Daemon) startUpkeep(context.Context) error {
	u := &upkeep{expire: d.engine.Expire, keep: d.keep, after: time.After, log: d.log.Named("upkeep")}
	if failpoint.Enabled { // a test of a crash in it does not wait for a minute
		u.after = func(wait time.Duration) <-chan time.Time { return time.After(wait / 600) }
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		u.run(ctx)
	}()
	d.work.add("upkeep", func() error {
		cancel()
		<-done
		return nil
	})
	return nil
}

// keep is how long runs that rest are kept, by the configuration in force.
func (d *Daemon) keep() engine.Keep {
	const day = 24 * time.Hour
	store := d.current().Store
	return engine.Keep{Sandbox: time.Duration(store.IdleDays) * day, Run: time.Duration(store.RetentionDays) * day}
}
