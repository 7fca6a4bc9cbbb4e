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
	"strings"

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
		return sdk.Errorf(sdk.NotFound, "there is no hook %q; the nearest name is %q", sub.Name, c.nearest(sub.Name))
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

// nearest finds the catalogue's name with the fewest edits to name, the
// camelCase spelling of older programs counted as none.
func (c *Chains) nearest(name string) string {
	if len(name) > 200 {
		name = name[:200]
	}
	wanted := fold(name)
	best, least := "", -1
	for _, candidate := range c.order {
		if d := distance(wanted, fold(candidate)); least < 0 || d < least {
			best, least = candidate, d
		}
	}
	return best
}

func fold(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "") }

// distance is Levenshtein's, over bytes.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(a); i++ {
		diagonal := row[0]
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := diagonal
			if a[i-1] != b[j-1] {
				cost++
			}
			diagonal = row[j]
			row[j] = min(cost, row[j]+1, row[j-1]+1)
		}
	}
	return row[len(b)]
}
