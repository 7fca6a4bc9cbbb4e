package host

import (
	"context"
	"time"

	"github.com/bothyd/bothy/daemon/internal/deadline"
	"github.com/bothyd/bothy/sdk"
)

// heeded is the context of a call of a plugin that ends when nothing comes of it for as long as
// its block allows (limits { call }), or otherwise where that says nothing; zero is no such end.
func (i *instance) heeded(ctx context.Context, otherwise time.Duration) (context.Context, *deadline.Deadline, context.CancelFunc) {
	limit := i.callLimit(otherwise)
	return deadline.Silence(ctx, limit, silentError{sdk.Errorf(sdk.Timeout, "the call hung and was ended: nothing came of it for %v, and limits { call } in the block of %s lets it be silent for no longer", limit, i.name)})
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

// clocks are those of one call: of its silence, and of all that it may take.
type clocks struct {
	*deadline.Deadline
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
	*deadline.Deadline
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
