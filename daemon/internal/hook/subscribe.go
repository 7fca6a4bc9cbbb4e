// Package hook is the catalogue of names at which a part of Bothy, built in or
// plugged in, hears what happens (events) or changes a value on its way
// (filters), and the chains that run its subscribers in priority order.
//
// Three promises: a name that is not in the catalogue is an error, never
// silence; a failing listener is isolated; a failing guard is a deny, never a
// pass.
package hook

import (
	"fmt"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/hook"
)

// subscribable is what every chain offers to subscribers that speak JSON.
type subscribable interface {
	Point() sdk.HookPoint
	attach(sub sdk.Subscription, owner string, h hook.Hook) (remove func())
}

// Catalogue lists every name with its kind and meaning, in the order of a
// prompt's way through the daemon.
func (c *Chains) Catalogue() []sdk.HookPoint {
	points := make([]sdk.HookPoint, len(c.order))
	for i, name := range c.order {
		points[i] = c.byName[name].Point()
	}
	return points
}

// Check says what is wrong with a subscription: a name that is not in the
// catalogue (the nearest one is named) or a failure mode that does not exist.
// A priority of zero is a place like any other, not the default.
func (c *Chains) Check(sub sdk.Subscription) error {
	s, ok := c.byName[sub.Name]
	if !ok {
		return sdk.Errorf(sdk.NotFound, "there is no hook %q; the nearest name is %q", sub.Name, hook.Nearest(sub.Name, c.order))
	}
	switch sub.Failure {
	case "", sdk.FailOpen:
	case sdk.FailClosed:
		if s.Point().Kind == sdk.HookEvent {
			return sdk.Errorf(sdk.Validation, "hook %q is an event: it tells, so it cannot fail closed; leave failure out", sub.Name)
		}
	default:
		return sdk.Errorf(sdk.Validation, "hook %q: failure is %q; write \"open\" or \"closed\"", sub.Name, sub.Failure)
	}
	return nil
}

// Subscribe binds every subscription of h under owner's name. If one of them
// is wrong, none is made. The returned function ends them all.
func (c *Chains) Subscribe(owner string, h hook.Hook) (remove func(), err error) {
	subs := h.Subscriptions()
	for _, sub := range subs {
		if err := c.Check(sub); err != nil {
			return nil, fmt.Errorf("%s: %w", owner, err)
		}
	}
	removes := make([]func(), len(subs))
	for i, sub := range subs {
		removes[i] = c.byName[sub.Name].attach(sub, owner, h)
	}
	return func() {
		for _, r := range removes {
			r()
		}
	}, nil
}
