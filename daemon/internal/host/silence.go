package host

import (
	"context"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/deadline"
	"github.com/bothyd/bothy/sdk"
)

// silence ends a call of which nothing has come for too long. The time does not
// count while a service of the daemon works for the call, or somebody takes what it
// sent. A nil one ends nothing.
type silence struct {
	mu    sync.Mutex
	limit time.Duration
	why   error // what the call ends with
	timer *time.Timer
	busy  int // services and pieces under way
}

// heed is the context of a call that ends with why when nothing comes of it for as long
// as limit. Zero is no end of that kind.
func heed(ctx context.Context, limit time.Duration, why error) (context.Context, *silence, context.CancelFunc) {
	if limit <= 0 {
		return ctx, nil, func() {}
	}
	ctx, end := context.WithCancelCause(ctx)
	s := &silence{limit: limit, why: why}
	s.timer = time.AfterFunc(limit, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		end(silentError{s.why})
	})
	return ctx, s, func() { s.timer.Stop(); end(nil) }
}

// heeded is heed for a call of a plugin, with the limit of its block (limits { call }), or
// another where that has none.
func (i *instance) heeded(ctx context.Context, otherwise time.Duration) (context.Context, *silence, context.CancelFunc) {
	limit := i.callLimit(otherwise)
	return heed(ctx, limit, sdk.Errorf(sdk.Timeout, "the call hung and was ended: nothing came of it for %v, and limits { call } in the block of %s lets it be silent for no longer", limit, i.name))
}

// becomes changes the limit while the clock is stopped.
func (s *silence) becomes(limit time.Duration, why error) {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.limit, s.why = limit, why
	}
}

// callLimit is limits { call } of the block, or otherwise.
func (i *instance) callLimit(otherwise time.Duration) time.Duration {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.spec.Limits.Call > 0 {
		return i.spec.Limits.Call
	}
	return otherwise
}

// Hold stops the clock until it is let go of, when the time begins anew.
func (s *silence) Hold() (letGo func()) {
	if s == nil {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.busy++
	s.timer.Stop()
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.busy--; s.busy == 0 {
			s.timer.Reset(s.limit)
		}
	}
}

// clocks are those of one call: of its silence, and of all that it may take.
type clocks struct {
	*silence
	late *deadline.Deadline
}

// Pause implements callback.Silence.
func (c clocks) Pause() (goOn func()) { return c.late.Hold() }

// limited is the context of a call that has to end by then. That of a plugin which may ask people
// has no deadline that the plugin could know: it moves while a person thinks.
func (l *link) limited(ctx context.Context, until time.Time) (context.Context, *deadline.Deadline, context.CancelFunc) {
	switch {
	case until.IsZero():
		return ctx, nil, func() {}
	case l.attached || !l.back.Asks():
		ctx, cancel := context.WithDeadline(ctx, until)
		return ctx, nil, cancel
	}
	return deadline.With(ctx, time.Until(until), silentError{sdk.Errorf(sdk.Timeout, "the call did not end before its deadline")})
}

// heard passes on what a call sends, and notes that it came.
type heard struct {
	sdk.Stream
	*silence
}

func (h heard) Chunk(channel int, p []byte) error {
	defer h.Hold()()
	return h.Stream.Chunk(channel, p)
}

func (h heard) Progress(message string, fraction float64) error {
	defer h.Hold()()
	return h.Stream.Progress(message, fraction)
}

// silentError is why the context of a call ended that was silent for too long.
type silentError struct{ error }

// fellSilent is the error of a call that was ended for its silence; nil where it was not.
func fellSilent(ctx context.Context) error {
	e, _ := context.Cause(ctx).(silentError)
	return e.error
}
