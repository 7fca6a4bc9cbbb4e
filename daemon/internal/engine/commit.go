package engine

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// urgency says what becomes of a commit that the store does not take now.
type urgency int

const (
	// once is one try: nothing has happened yet, and the caller can still say no.
	once urgency = iota
	// happened is for what cannot be taken back. While the store takes no writes
	// the change is held in memory and tried again until it is written or ctx ends,
	// and the engine takes no new work. What fails for another reason that may pass
	// is tried for some seconds only.
	happened
	// ahead is for what an effect follows, or a request that costs money: it waits
	// until everything else that happened is recorded, and is then tried like that.
	ahead
	// final is happened, and is tried as long as ctx lasts whatever the reason.
	final
)

// Commit makes a change durable, in one try, and tells who follows entries. All
// that is written into a run is written by an engine, whoever asks for it.
func (e *Engine) Commit(ctx context.Context, c sdk.Change) (sdk.Receipt, error) {
	return e.commit(ctx, once, c)
}

// commit makes a change durable. One try does not end with ctx: a step that was
// taken is recorded, whoever gave up waiting for it.
func (e *Engine) commit(ctx context.Context, u urgency, c sdk.Change) (sdk.Receipt, error) {
	if u == ahead {
		if err := e.backlog.Wait(ctx); err != nil {
			return sdk.Receipt{}, err
		}
	}
	r, err := e.write(ctx, c)
	held, waited := false, time.Duration(0)
	for wait := firstPause; err != nil && u != once && passing(err); wait = min(2*wait, longestPause) {
		switch {
		case refusing(err) && !held:
			held = true
			defer e.backlog.Add(err)()
		case !refusing(err) && u != final && waited >= e.patience:
			return r, err
		}
		e.log.Error("what has happened could not be recorded yet; it is tried again", "run", c.Run, "error", err)
		if !sleep(ctx, wait) {
			return r, err
		}
		waited += wait
		r, err = e.write(ctx, c)
	}
	return r, err
}

// write is one try of a commit, and tells of each entry that it wrote. Pieces of
// a stream are not told of; the write that ends the stream is.
func (e *Engine) write(ctx context.Context, c sdk.Change) (sdk.Receipt, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTime)
	defer cancel()
	r, err := e.cfg.Store.Commit(ctx, c)
	if err == nil {
		e.say(ctx, c)
	}
	if err != nil || !e.cfg.Hooks.EntryChanged.Active() {
		return r, err
	}
	for i, w := range c.Writes {
		again := func(later sdk.Write) bool { return later.Path == w.Path && wrote(later) }
		if wrote(w) && !slices.ContainsFunc(c.Writes[i+1:], again) {
			e.changed(ctx, sdk.EntryEvent{Run: c.Run, Entry: r.Entries[i], Removed: w.Remove})
		}
	}
	return r, nil
}

// wrote leaves out pieces of a stream, and what was only checked.
func wrote(w sdk.Write) bool { return w.Chunk == nil && !w.Check }

func (e *Engine) changed(ctx context.Context, x sdk.EntryEvent) {
	e.cfg.Hooks.EntryChanged.Emit(ctx, x)
}

// passing reports whether a failed commit may succeed later.
func passing(err error) bool {
	return !slices.Contains([]sdk.Outcome{sdk.Conflict, sdk.Validation, sdk.Permission, sdk.NotFound}, sdk.OutcomeOf(err))
}

// refusing reports whether the store takes no writes at all now: its disk is
// full or broken, or somebody holds the file.
func refusing(err error) bool {
	return sdk.OutcomeOf(err) == sdk.Unavailable || errors.Is(err, context.DeadlineExceeded)
}

// sleep waits, and reports whether ctx let it.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}
