package engine

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// committer is one of the ways to commit: commit, commitEnd, commitNext.
type committer func(context.Context, sdk.Change) (sdk.Receipt, error)

// commit makes a change durable, in one try. It does not end with ctx: a step
// that was taken is recorded, whoever gave up waiting for it.
func (e *Engine) commit(ctx context.Context, c sdk.Change) (sdk.Receipt, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	r, err := e.cfg.Store.Commit(ctx, c)
	if err != nil {
		return r, err
	}
	if e.cfg.Hooks.EntryChanged.Active() {
		for _, entry := range r.Entries {
			e.cfg.Hooks.EntryChanged.Emit(ctx, sdk.EntryEvent{Run: c.Run, Entry: entry})
		}
	}
	return r, nil
}

// commitEnd commits what has happened and cannot be taken back. While the
// store takes no writes it is held in memory and tried again until it is
// written or ctx ends, and the engine takes no new work. What fails in a way
// that waiting does not mend is tried for some seconds only.
func (e *Engine) commitEnd(ctx context.Context, c sdk.Change) (sdk.Receipt, error) {
	r, err := e.commit(ctx, c)
	if err == nil || !passing(err) {
		return r, err
	}
	held := false
	waited := time.Duration(0)
	for wait := firstPause; err != nil && passing(err); wait = min(2*wait, longestPause) {
		switch {
		case refusing(err) && !held:
			held = true
			defer e.backlog.add(err)()
		case !refusing(err) && waited >= e.patience:
			return r, err
		}
		e.log.Error("what has happened could not be recorded yet; it is tried again", "run", c.Run, "error", err)
		if !sleep(ctx, wait) {
			return r, err
		}
		waited += wait
		r, err = e.commit(ctx, c)
	}
	return r, err
}

// commitNext commits what is about to happen: an effect follows it, or a
// request that costs money. It waits while what has happened elsewhere could
// not be recorded, and is itself tried until it is written or ctx ends.
func (e *Engine) commitNext(ctx context.Context, c sdk.Change) (sdk.Receipt, error) {
	if err := e.backlog.wait(ctx); err != nil {
		return sdk.Receipt{}, err
	}
	return e.commitEnd(ctx, c)
}

// passing reports whether a failed commit may succeed later.
func passing(err error) bool {
	switch sdk.OutcomeOf(err) {
	case sdk.Conflict, sdk.Validation, sdk.Permission, sdk.NotFound:
		return false
	default:
		return true
	}
}

// refusing reports whether the store takes no writes at all now: its disk is
// full or broken, or somebody holds the file.
func refusing(err error) bool {
	return sdk.OutcomeOf(err) == sdk.Unavailable || errors.Is(err, context.DeadlineExceeded)
}

// sleep waits, and reports whether ctx let it.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// backlog counts the changes that are held in memory because the store takes
// no writes. While there are any, no new work is taken. Its zero value works.
type backlog struct {
	mu    sync.Mutex
	held  int
	why   error         // of the last one
	empty chan struct{} // closed when nothing is held any more
}

// add holds one more change; release takes it away again.
func (b *backlog) add(why error) (release func()) {
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

// reason is why changes are held; nil when none are.
func (b *backlog) reason() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.why
}

// wait returns when nothing is held, or with the cause for which ctx ended
// before.
func (b *backlog) wait(ctx context.Context) error {
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
