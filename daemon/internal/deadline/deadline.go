// Package deadline bounds work by the time that it takes itself, or that nothing comes of it:
// while somebody else is waited for, such as a person who was asked something, the time stands
// still.
package deadline

import (
	"context"
	"sync"
	"time"
)

// Deadline is the end of a context, which moves while it is held. A nil one bounds nothing.
type Deadline struct {
	mu    sync.Mutex
	timer *time.Timer
	why   error
	until time.Time     // while nobody holds it
	left  time.Duration // from when it is let go of
	anew  bool          // left is what it was at first
	held  int
}

// With is a context that ends with the cause why when the work has taken as long as limit. It has
// no deadline of its own to ask for, since that may move.
func With(ctx context.Context, limit time.Duration, why error) (context.Context, *Deadline, context.CancelFunc) {
	return begin(ctx, &Deadline{left: limit, why: why})
}

// Silence is a context that ends with the cause why when nobody has held it for as long as
// limit: let go of, the time begins anew. Zero is no end of that kind.
func Silence(ctx context.Context, limit time.Duration, why error) (context.Context, *Deadline, context.CancelFunc) {
	if limit <= 0 {
		return ctx, nil, func() {}
	}
	return begin(ctx, &Deadline{left: limit, why: why, anew: true})
}

func begin(ctx context.Context, d *Deadline) (context.Context, *Deadline, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.until = time.Now().Add(d.left)
	d.timer = time.AfterFunc(d.left, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.held == 0 && !time.Now().Before(d.until) { // it may have been held just now
			end(d.why)
		}
	})
	return ctx, d, func() { d.timer.Stop(); end(nil) }
}

// Becomes changes how much time there is when it is let go of, and why the context ends then. It
// must be held.
func (d *Deadline) Becomes(left time.Duration, why error) {
	if d != nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.left, d.why = left, why
	}
}

// Hold stops the time until it is let go of.
func (d *Deadline) Hold() (letGo func()) {
	if d == nil {
		return func() {}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held++; d.held == 1 {
		d.timer.Stop()
		if !d.anew {
			d.left = max(time.Until(d.until), 0)
		}
	}
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.held--; d.held == 0 {
			d.until = time.Now().Add(d.left)
			d.timer.Reset(d.left)
		}
	}
}

// Until is when the work has to have ended, as far as is known by now: while it is held that moves. A
// nil Deadline has no such time.
func (d *Deadline) Until() time.Time {
	if d == nil {
		return time.Time{}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held > 0 {
		return time.Now().Add(d.left)
	}
	return d.until
}
