package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// Filter is a name that passes a value through its subscribers; each gets what
// the one before it returned.
type Filter[T any] struct {
	chain[func(context.Context, T) (T, error)]
	// take says what of the answer of a subscriber, by its owner, counts; nil is all of it.
	take func(owner string, before, after T) T
	// give is what of a value a plugin is told; nil is all of it.
	give func(owner string, value T) T
}

// On subscribes owner at a priority (lower is earlier). With deny, a failure
// of call ends the chain as a refusal; in a chain of guards it always does.
// The returned function ends the subscription.
func (f *Filter[T]) On(priority int, owner string, deny bool, call func(context.Context, T) (T, error)) (remove func()) {
	return f.add(subscriber[func(context.Context, T) (T, error)]{
		owner: owner, priority: priority, deny: deny || f.point.Guard, call: call,
	})
}

// Apply passes value through the chain. A subscriber that fails and does not
// deny is logged and passed over: its predecessor's value goes on. One that
// denies ends the chain with an error of outcome permission; the caller must
// then not do what the value stood for.
func (f *Filter[T]) Apply(ctx context.Context, value T) (T, error) {
	for _, s := range f.subscribers() {
		var next T
		err := f.guarded(ctx, s.owner, func(ctx context.Context) (err error) {
			next, err = s.call(ctx, value)
			return err
		})
		switch {
		case err == nil && f.take != nil:
			value = f.take(s.owner, value, next)
		case err == nil:
			value = next
		case s.deny:
			f.log.Warn("a guarding hook failed, which is a deny", "hook", f.point.Name, "owner", s.owner, "error", err)
			if sdk.OutcomeOf(err) == sdk.Permission {
				return value, sdk.Errorf(sdk.Permission, "%s refused: %w", s.owner, err)
			}
			return value, sdk.Errorf(sdk.Permission, "%s could not rule on %s, and a guard that fails denies: %w", s.owner, f.point.Name, err)
		default:
			f.log.Warn("a hook failed and was passed over", "hook", f.point.Name, "owner", s.owner, "error", err)
		}
	}
	return value, nil
}

// unable reports whether a plugin could not rule, so that who is refused is told how to go on
// without it. Any other error is its ruling.
func unable(err error) bool {
	o := sdk.OutcomeOf(err)
	return o == sdk.Unavailable || o == sdk.Timeout || o == sdk.PluginCrashed || o == sdk.OutOfMemory
}

func (f *Filter[T]) attach(sub sdk.Subscription, owner string, h sdk.Hook) (remove func()) {
	return f.On(sub.Priority, owner, sub.Failure == sdk.FailClosed, func(ctx context.Context, value T) (T, error) {
		told := value
		if f.give != nil {
			told = f.give(owner, value)
		}
		b, err := json.Marshal(told)
		if err != nil {
			return value, fmt.Errorf("encode the value: %w", err)
		}
		b, err = h.Filter(ctx, f.point.Name, b)
		if err != nil && unable(err) && (f.point.Guard || sub.Failure == sdk.FailClosed) {
			anew := ""
			if sdk.OutcomeOf(err) == sdk.Timeout {
				anew = "`bothy plugins reload " + owner + "` starts it anew, and "
			}
			return value, fmt.Errorf("%w; %senabled = false in the block of %s switches it off", err, anew, owner)
		}
		if err != nil {
			return value, err
		}
		if b = bytes.TrimSpace(b); len(b) == 0 || bytes.Equal(b, []byte("null")) {
			return value, errors.New("it returned no value")
		}
		var next T
		if err := json.Unmarshal(b, &next); err != nil {
			return value, fmt.Errorf("decode what it returned: %w", err)
		}
		return next, nil
	})
}
