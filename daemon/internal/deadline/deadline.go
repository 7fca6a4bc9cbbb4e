// Package deadline bounds work by the time that it takes itself: while somebody else is waited
// for, such as a person who was asked something, the time stands still.
package deadline

import (
	"context"
	"sync"
	"time"
)

// Deadline is the end of a context, which moves while it is held.
type Deadline struct {
	mu    sync.Mutex
	timer *time.Timer
	until time.Time
	held  int
	since time.Time // of the first that holds it
}

// With is a context that ends with the cause why when the work has taken as long as limit. It has
// no deadline of its own to ask for, since that may move.
func With(ctx context.Context, limit time.Duration, why error) (context.Context, *Deadline, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	d := &Deadline{until: time.Now().Add(limit)}
	d.timer = time.AfterFunc(limit, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.held == 0 {
			end(why)
		}
	})
	return ctx, d, func() { d.timer.Stop(); end(nil) }
}

// Hold stops the time until it is let go of. A nil Deadline bounds nothing.
func (d *Deadline) Hold() (letGo func()) {
	if d == nil {
		return func() {}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held++; d.held == 1 {
		d.timer.Stop()
		d.since = time.Now()
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.held--; d.held == 0 {
			d.until = d.until.Add(time.Since(d.since))
			d.timer.Reset(max(time.Until(d.until), 0))
		}
	}
}
