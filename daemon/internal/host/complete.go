package host

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// listing is how long a provider may take to list its models.
const listing = time.Minute

// Models lists what the provider of an instance offers.
func (s *Supervisor) Models(ctx context.Context, instance string) ([]sdk.Model, error) {
	i, err := s.instance(instance)
	if err != nil {
		return nil, err
	}
	ctx, _, done := i.heeded(ctx, listing)
	defer done()
	var models []sdk.Model
	err = i.once(ctx, "", "", func(rpc context.Context, l *link) (err error) {
		models, err = l.provider.Models(rpc)
		return err
	})
	for n := range models {
		models[n].Provider = instance
	}
	return models, err
}

// Pull has the provider of an instance get a model onto its server. It lasts until
// that is done, or ctx ends; progress is told how far it is.
func (s *Supervisor) Pull(ctx context.Context, instance, model string, progress func(sdk.PullProgress)) error {
	i, err := s.instance(instance)
	if err != nil {
		return err
	}
	ctx, quiet, done := i.heeded(ctx, s.cfg.FirstDelta)
	defer done()
	return i.once(ctx, "", "", func(rpc context.Context, l *link) error {
		return l.provider.Pull(rpc, model, func(p sdk.PullProgress) error {
			defer quiet.Hold()()
			progress(p)
			return nil
		})
	})
}

// Complete asks the provider of an instance for one completion, once. Pieces reach
// send in order. The error is a *sdk.ProviderError when the provider failed, or its
// stream paused for too long, else an *sdk.Error: a provider that crashed is
// plugin_crashed.
func (s *Supervisor) Complete(ctx context.Context, instance string, req sdk.Request, send func(sdk.Delta) error) error {
	i, err := s.instance(instance)
	if err != nil {
		return err
	}
	if _, err := callback.Below(ctx, "the completion of "+instance); err != nil {
		return err
	}
	l, end, err := i.called(ctx, req.Run, "")
	if err != nil {
		return err
	}
	defer end()
	id := uuid.NewString()
	defer s.calls.Begin(ctx, sdk.Caller{Instance: i.name, Call: id, Run: req.Run, Depth: callback.Depth(ctx) + 1}, (*silence)(nil))()

	first := i.callLimit(s.cfg.FirstDelta)
	between := min(first, s.cfg.StreamIdle)
	watched, quiet, done := heed(ctx, first, &sdk.ProviderError{Class: sdk.ClassGateway, Message: fmt.Sprintf("the model did not begin to answer within %v", first)})
	defer done()
	stalled := &sdk.ProviderError{Class: sdk.ClassGateway, Streamed: true, Message: fmt.Sprintf("the model's answer stalled: nothing came for %v", between)}
	err = l.bound(host.WithCall(watched, id), func(rpc context.Context) error {
		return l.provider.Complete(host.Outgoing(rpc), req, func(d sdk.Delta) error {
			defer quiet.Hold()() // a slow reader of ours is no fault of the stream
			quiet.becomes(between, stalled)
			return send(d)
		})
	})
	var paused *sdk.ProviderError
	if err != nil && ctx.Err() == nil && errors.As(context.Cause(watched), &paused) {
		return paused
	}
	return err
}

// bound runs one call on the caller's context, which also ends with the
// plugin.
func (l *link) bound(ctx context.Context, do func(context.Context) error) error {
	rpc, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.alive, func() { cancel(context.Cause(l.alive)) })()
	return l.mapped(ctx, do(rpc))
}
