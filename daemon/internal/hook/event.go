package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// Event is a name that tells: its subscribers hear a payload and change
// nothing.
type Event[T any] struct {
	chain[func(context.Context, T) error]
}

// On subscribes owner at a priority (sdk.DefaultPriority when it does not
// matter; lower is earlier). The returned function ends the subscription.
func (e *Event[T]) On(priority int, owner string, call func(context.Context, T) error) (remove func()) {
	return e.add(subscriber[func(context.Context, T) error]{owner: owner, priority: priority, call: call})
}

// Emit tells every subscriber in order and waits for each, at most the chain's
// limit. One that fails or panics is logged and keeps nothing from the others
// or from the caller.
func (e *Event[T]) Emit(ctx context.Context, payload T) { _ = e.Tell(ctx, payload) }

// Tell is Emit for a caller who has to know whether every subscriber did its
// part. The error joins what failed, which is logged too.
func (e *Event[T]) Tell(ctx context.Context, payload T) error {
	var failed []error
	for _, s := range e.subscribers() {
		err := e.guarded(ctx, s.owner, func(ctx context.Context) error { return s.call(ctx, payload) })
		if err != nil {
			e.log.Warn("a hook failed", "hook", e.point.Name, "owner", s.owner, "error", err)
			failed = append(failed, fmt.Errorf("%s: %w", s.owner, err))
		}
	}
	return errors.Join(failed...)
}

// Owners are those of the subscribers, in their order and once each: who is told of a durable event each by itself. One that subscribes
// twice, or anew just now, is told once.
func (e *Event[T]) Owners() []string {
	var owners []string
	for _, s := range e.subscribers() {
		if !slices.Contains(owners, s.owner) {
			owners = append(owners, s.owner)
		}
	}
	return owners
}

// TellOne tells one subscriber, and returns what came of it; unavailable when there is none of that owner.
func (e *Event[T]) TellOne(ctx context.Context, owner string, payload T) error {
	for _, s := range e.subscribers() {
		if s.owner == owner {
			return e.guarded(ctx, s.owner, func(ctx context.Context) error { return s.call(ctx, payload) })
		}
	}
	return sdk.Errorf(sdk.Unavailable, "the plugin %s does not subscribe to %s now", owner, e.point.Name)
}

func (e *Event[T]) attach(sub sdk.Subscription, owner string, h sdk.Hook) (remove func()) {
	return e.On(sub.Priority, owner, func(ctx context.Context, payload T) error {
		if x, is := any(payload).(sdk.EntryEvent); is && sub.Scheme != "" && x.Entry.Scheme() != sub.Scheme {
			return nil
		}
		b, err := json.Marshal(payload)
		if err != nil {
			return fmt.Errorf("encode the payload: %w", err)
		}
		return h.Event(ctx, e.point.Name, b)
	})
}
