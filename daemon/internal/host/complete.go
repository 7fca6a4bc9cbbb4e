package host

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/daemon/internal/deadline"
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
	models, err := once(ctx, i, "", "", func(rpc context.Context, l *link) ([]sdk.Model, error) { return l.provider.Models(rpc) })
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
	_, err = once(ctx, i, "", "", func(rpc context.Context, l *link) (none struct{}, err error) {
		return none, l.provider.Pull(rpc, model, func(p sdk.PullProgress) error {
			defer quiet.Hold()()
			progress(p)
			return nil
		})
	})
	return err
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
	defer s.calls.Begin(ctx, sdk.Caller{Instance: i.name, Call: id, Run: req.Run, Depth: callback.Depth(ctx) + 1}, clocks{})()

	first := i.callLimit(s.cfg.FirstDelta)
	between := min(first, s.cfg.StreamIdle)
	watched, quiet, done := deadline.Silence(ctx, first, silentError{&sdk.ProviderError{Class: sdk.ClassGateway, Message: fmt.Sprintf("the model did not begin to answer within %v", first)}})
	defer done()
	stalled := silentError{&sdk.ProviderError{Class: sdk.ClassGateway, Streamed: true, Message: fmt.Sprintf("the model's answer stalled: nothing came for %v", between)}}
	_, err = bound(host.WithCall(watched, id), l, func(rpc context.Context) (none struct{}, err error) {
		return none, l.provider.Complete(host.Outgoing(rpc), req, func(d sdk.Delta) error {
			defer quiet.Hold()() // a slow reader of ours is no fault of the stream
			quiet.Becomes(between, stalled)
			return send(d)
		})
	})
	return err
}

// once makes one call of a run, which ends with ctx and with the plugin.
func once[T any](ctx context.Context, i *instance, run, runDir string, do func(context.Context, *link) (T, error)) (answer T, err error) {
	l, end, err := i.called(ctx, run, runDir)
	if err != nil {
		return answer, err
	}
	defer end()
	return bound(ctx, l, func(rpc context.Context) (T, error) { return do(rpc, l) })
}

// bound runs one call on the caller's context, which also ends with the
// plugin.
func bound[T any](ctx context.Context, l *link, do func(context.Context) (T, error)) (T, error) {
	rpc, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	defer context.AfterFunc(l.alive, func() { cancel(context.Cause(l.alive)) })()
	answer, err := do(rpc)
	return answer, l.mapped(ctx, err)
}
