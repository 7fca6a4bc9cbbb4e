// Package backlog counts what has happened and could not be recorded yet.
package backlog

import (
	"context"
	"sync"
)

// Backlog counts the changes that are held in memory because the store takes
// no writes. While there are any, no new work is taken. Its zero value works.
type Backlog struct {
	mu    sync.Mutex
	held  int
	why   error         // of the last one
	empty chan struct{} // closed when nothing is held any more
}

// Add holds one more change; release takes it away again.
func (b *Backlog) Add(why error) (release func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.held == 0 {
		b.empty = make(chan struct{})
	}
	b.held++
	b.why = why
	return sync.OnceFunc(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		if b.held--; b.held == 0 {
			b.why = nil
			close(b.empty)
		}
	})
}

// Reason is why changes are held; nil when none are.
func (b *Backlog) Reason() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.why
}

// Wait returns when nothing is held, or with the cause for which ctx ended
// before.
func (b *Backlog) Wait(ctx context.Context) error {
	for {
		b.mu.Lock()
		held, empty := b.held, b.empty
		b.mu.Unlock()
		if held == 0 {
			return nil
		}
		select {
		case <-empty:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
