package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

// Subscriber is the hook of one plugin, through all its restarts.
type Subscriber struct {
	Instance string
	i        *instance
}

// Hooks are the plugins with the kind hook that were described, in the order
// of the configuration.
func (s *Supervisor) Hooks() []Subscriber {
	var out []Subscriber
	for _, i := range s.instances() {
		i.mu.Lock()
		serves := i.manifest != nil && slices.Contains(i.manifest.Kinds, plugin.KindHook)
		i.mu.Unlock()
		if serves {
			out = append(out, Subscriber{Instance: i.name, i: i})
		}
	}
	return out
}

// Subscriptions implements sdk.Hook.
func (h Subscriber) Subscriptions() []sdk.Subscription {
	h.i.mu.Lock()
	defer h.i.mu.Unlock()
	if h.i.manifest == nil {
		return nil
	}
	return h.i.manifest.Subscriptions
}

// Event implements sdk.Hook. A plugin that is not there, or does not answer within
// the limit of the hook, is an error: what that means is for the subscription's
// failure mode to say. One that still works when a cancelled call would have had to
// end is ended.
func (h Subscriber) Event(ctx context.Context, name string, payload json.RawMessage) error {
	_, err := h.call(ctx, name, func(ctx context.Context, l *link) (json.RawMessage, error) {
		return nil, l.hook.Event(ctx, name, payload)
	})
	return err
}

// Filter implements sdk.Hook; see Event.
func (h Subscriber) Filter(ctx context.Context, name string, value json.RawMessage) (json.RawMessage, error) {
	return h.call(ctx, name, func(ctx context.Context, l *link) (json.RawMessage, error) {
		return l.hook.Filter(ctx, name, value)
	})
}

// call asks the plugin and waits for its answer. The question outlives ctx, by the
// grace of a cancelled call beyond the limit of the hook that the plugin knows too.
func (h Subscriber) call(ctx context.Context, name string, do func(context.Context, *link) (json.RawMessage, error)) (json.RawMessage, error) {
	point, _ := sdk.FindHook(name) // nobody subscribes to another name
	limit := min(point.Limit, h.i.callLimit(point.Limit))
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	l, end, err := h.i.called(ctx, "", "")
	if err != nil {
		return nil, err
	}
	boxes := h.i.current().Granted(sdk.GrantSandbox) // to remove containers and what they left takes as long as it takes
	type answer struct {
		value json.RawMessage
		err   error
	}
	answered := make(chan answer, 1)
	go func() { // it ends with the link, or by its own time
		defer end()
		rpc, hangUp := context.WithCancelCause(context.WithoutCancel(ctx)) // a deadline of its own would end it at the other side first
		defer hangUp(nil)
		defer time.AfterFunc(point.Limit+l.cfg.CancelGrace, func() { hangUp(errHung) }).Stop()
		var a answer
		a.err = l.bound(rpc, func(ctx context.Context) (err error) {
			a.value, err = do(ctx, l)
			return err
		})
		if context.Cause(rpc) != nil && !boxes {
			l.hang(fmt.Sprintf("its subscriber of %s did not end within %v of its limit", name, l.cfg.CancelGrace))
		}
		answered <- a
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			return nil, sdk.Errorf(sdk.Timeout, "the plugin did not answer within %v", limit)
		}
		return nil, gaveUp(ctx)
	}
}

var _ sdk.Hook = Subscriber{}
