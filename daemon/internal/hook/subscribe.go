// Package hook runs the chains of subscribers, one chain for each name of the
// catalogue (sdk.Hooks) at which a part of Bothy, built in or plugged in, hears
// what happens (events) or changes a value on its way (filters).
//
// Three promises: a name that is not in the catalogue is an error, never
// silence; a failing listener is isolated; a failing guard is a deny, never a
// pass.
package hook

import (
	"fmt"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// subscribable is what every chain offers to subscribers that speak JSON.
type subscribable interface {
	open(point sdk.HookPoint, log hclog.Logger)
	attach(sub sdk.Subscription, owner string, h sdk.Hook) (remove func())
}

// Subscribe binds every subscription of h under owner's name. If one of them
// is wrong, none is made. The returned function ends them all.
func (c *Chains) Subscribe(owner string, h sdk.Hook) (remove func(), err error) {
	subs := h.Subscriptions()
	for _, sub := range subs {
		if err := sub.Check(); err != nil {
			return nil, fmt.Errorf("%s: %w", owner, err)
		}
	}
	return c.subscribe(owner, h, subs), nil
}

// subscribe is Subscribe for subscriptions of which none is wrong.
func (c *Chains) subscribe(owner string, h sdk.Hook, subs []sdk.Subscription) (remove func()) {
	removes := make([]func(), len(subs))
	for i, sub := range subs {
		removes[i] = c.byName[sub.Name].attach(sub, owner, h)
	}
	return func() {
		for _, r := range removes {
			r()
		}
	}
}
