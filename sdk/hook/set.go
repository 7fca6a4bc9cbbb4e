// Package hook is the plugin kind that listens to what the daemon does, and
// may change a value on its way. Its interface and its catalogue are [sdk.Hook]
// and [sdk.Hooks].
package hook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"

	"github.com/bothyd/bothy/sdk"
)

// Func is one subscription made of a function. Set serves several.
type Func struct {
	sub     sdk.Subscription
	kind    sdk.HookKind
	payload reflect.Type
	event   func(ctx context.Context, payload json.RawMessage) error
	filter  func(ctx context.Context, value json.RawMessage) (json.RawMessage, error)
}

// On hears an event of the catalogue. T is the type that the catalogue gives
// for the name, or json.RawMessage; another one is reported by Set.Err, before
// the plugin serves.
func On[T any](name string, fn func(ctx context.Context, payload T) error) Func {
	f := subscribe[T](name, sdk.HookEvent)
	f.event = func(ctx context.Context, raw json.RawMessage) error {
		var payload T
		if err := json.Unmarshal(raw, &payload); err != nil {
			return sdk.Errorf(sdk.Validation, "the payload of %s: %w", name, err)
		}
		return fn(ctx, payload)
	}
	return f
}

// Filter changes a value of the catalogue on its way. T is as in On. What the
// value has beside the members of T, because a later daemon sent it, stays as it
// is: only what fn changed is changed.
func Filter[T any](name string, fn func(ctx context.Context, value T) (T, error)) Func {
	f := subscribe[T](name, sdk.HookFilter)
	f.filter = func(ctx context.Context, raw json.RawMessage) (json.RawMessage, error) {
		var value T
		if err := json.Unmarshal(raw, &value); err != nil {
			return nil, sdk.Errorf(sdk.Validation, "the value of %s: %w", name, err)
		}
		before, err := json.Marshal(value) // now: fn may change what value points to
		if err != nil {
			return nil, fmt.Errorf("the value of %s: %w", name, err)
		}
		if value, err = fn(ctx, value); err != nil {
			return nil, err
		}
		after, err := json.Marshal(value)
		if err != nil {
			return nil, fmt.Errorf("what the filter %s made of the value: %w", name, err)
		}
		return merge(raw, before, after)
	}
	return f
}

func subscribe[T any](name string, kind sdk.HookKind) Func {
	return Func{
		sub:  sdk.Subscription{Name: name, Priority: sdk.DefaultPriority},
		kind: kind, payload: reflect.TypeFor[T](),
	}
}

// Priority is the subscription in another place than sdk.DefaultPriority: lower
// comes first, and 0 and less are places like any other.
func (f Func) Priority(place int) Func {
	f.sub.Priority = place
	return f
}

// Of is the subscription to entry.changed for the entries of one scheme.
func (f Func) Of(scheme string) Func {
	f.sub.Scheme = scheme
	return f
}

// Closed is the filter whose failure denies what was asked: an error, no answer
// in time, a plugin that is not there. Without it the value passes as it was.
func (f Func) Closed() Func {
	f.sub.Failure = sdk.FailClosed
	return f
}

// Set is an [sdk.Hook] made of functions.
type Set []Func

// Err reports the mistakes of the author, all at once: a name that is not in
// the catalogue, an event where it has a filter, another type than it gives.
func (s Set) Err() error {
	var errs []error
	seen := map[string]bool{}
	for _, f := range s {
		if err := f.check(); err != nil {
			errs = append(errs, err)
		}
		if seen[f.sub.Name] {
			errs = append(errs, fmt.Errorf("hook %s: it is subscribed to twice", f.sub.Name))
		}
		seen[f.sub.Name] = true
	}
	return errors.Join(errs...)
}

func (f Func) check() error {
	if err := f.sub.Check(); err != nil {
		return err
	}
	point, _ := sdk.FindHook(f.sub.Name)
	switch {
	case point.Kind != f.kind && f.kind == sdk.HookEvent:
		return fmt.Errorf("hook %s: it is a filter: make it with hook.Filter", f.sub.Name)
	case point.Kind != f.kind:
		return fmt.Errorf("hook %s: it is an event: make it with hook.On", f.sub.Name)
	case f.payload != point.Payload && f.payload != reflect.TypeFor[json.RawMessage]():
		return fmt.Errorf("hook %s: it carries %v, and the function takes %v", f.sub.Name, point.Payload, f.payload)
	}
	return nil
}

// Subscriptions implements sdk.Hook.
func (s Set) Subscriptions() []sdk.Subscription {
	subs := make([]sdk.Subscription, 0, len(s))
	for _, f := range s {
		subs = append(subs, f.sub)
	}
	return subs
}

// Event implements sdk.Hook. A name that nobody subscribed to is nothing to do.
func (s Set) Event(ctx context.Context, name string, payload json.RawMessage) error {
	for _, f := range s {
		if f.sub.Name == name && f.event != nil {
			return f.event(ctx, payload)
		}
	}
	return nil
}

// Filter implements sdk.Hook. A name that nobody subscribed to leaves the value as
// it is.
func (s Set) Filter(ctx context.Context, name string, value json.RawMessage) (json.RawMessage, error) {
	for _, f := range s {
		if f.sub.Name == name && f.filter != nil {
			return f.filter(ctx, value)
		}
	}
	return value, nil
}

var _ sdk.Hook = Set(nil)
