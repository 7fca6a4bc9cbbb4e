package host

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/sdk"
	sdkhost "github.com/bothyd/bothy/sdk/host"
	"github.com/bothyd/bothy/sdk/plugin"
)

// Subscriber is the hook of one plugin, through all its restarts.
type Subscriber struct {
	Instance string
	i        *instance
}

// Hooks are the plugins that subscribe to something, in the order of the configuration;
// also those that never served, as far as anything is known of them.
func (s *Supervisor) Hooks() []Subscriber {
	var out []Subscriber
	for _, i := range s.instances() {
		if subs, _ := i.subscriptions(); len(subs) > 0 {
			out = append(out, Subscriber{Instance: i.name, i: i})
		}
	}
	return out
}

// Unseen are the plugins that were to start with the daemon, do not serve and never
// declared anything: nobody knows what they would hear, or refuse.
func (s *Supervisor) Unseen() []string {
	var out []string
	for _, i := range s.instances() {
		if _, known := i.subscriptions(); !known && !i.current().Lazy {
			out = append(out, i.name)
		}
	}
	return out
}

// subscriptions are those of the manifest. Before the first one they are what bothy.lock
// says, else what the plugin of this label declared last, perhaps to another daemon;
// known is false where there is none of it.
func (i *instance) subscriptions() (subs []sdk.Subscription, known bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	switch {
	case i.manifest != nil:
		return subscribedBy(i.manifest), true
	case i.spec.Locked != nil:
		return i.spec.Locked.Subscribed(), true
	}
	return i.s.inspect.Subscriptions(i.name)
}

func subscribedBy(m *sdk.Manifest) []sdk.Subscription {
	if !slices.Contains(m.Kinds, plugin.KindHook) {
		return nil
	}
	return m.Subscriptions
}

// Subscriptions implements sdk.Hook.
func (h Subscriber) Subscriptions() []sdk.Subscription {
	subs, _ := h.i.subscriptions()
	return subs
}

// Event implements sdk.Hook. A plugin that is not there, or does not answer within
// the limit of the hook, is an error: what that means is for the subscription's
// failure mode to say. One that still works when a cancelled call would have had to
// end is ended. A durable event is a call, for which the plugin may ask for services.
func (h Subscriber) Event(ctx context.Context, name string, payload json.RawMessage) error {
	if point, _ := sdk.FindHook(name); point.Durable {
		return h.told(ctx, name, payload)
	}
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
	asked, answeredFor := h.mayRead(ctx)
	go func() { // it ends with the link, or by its own time
		defer end()
		defer answeredFor()
		rpc, hangUp := context.WithCancelCause(context.WithoutCancel(asked)) // a deadline of its own would end it at the other side first
		defer hangUp(nil)
		defer time.AfterFunc(point.Limit+l.cfg.CancelGrace, func() { hangUp(errHung) }).Stop()
		value, err := bound(rpc, l, func(ctx context.Context) (json.RawMessage, error) { return do(ctx, l) })
		if context.Cause(rpc) != nil && !boxes {
			l.finish(fmt.Sprintf("its subscriber of %s did not end within %v of its limit", name, l.cfg.CancelGrace), true)
		}
		answered <- answer{value, err}
	}()
	select {
	case a := <-answered:
		h.i.unruled("")
		return a.value, a.err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			err := sdk.Errorf(sdk.Timeout, "the plugin did not answer within %v", limit)
			h.i.unruled(fmt.Sprintf("its subscriber of %s: %v", name, err))
			return nil, err
		}
		return nil, gaveUp(ctx)
	}
}

// mayRead makes a question about the prompt of a run a call, for which the plugin reads entries. It ends with ctx.
func (h Subscriber) mayRead(ctx context.Context) (asked context.Context, end func()) {
	run := hook.RunOf(ctx)
	if run == 0 {
		return ctx, func() {}
	}
	id := uuid.NewString()
	return sdkhost.Outgoing(sdkhost.WithCall(ctx, id)), h.i.s.calls.Begin(ctx, sdk.Caller{Instance: h.i.name, Call: id, Depth: 1, Reads: run}, clocks{})
}

// unruled keeps for status why the last call of a subscriber had no answer; empty is that
// it had one.
func (i *instance) unruled(why string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.deaf = why
}

var _ sdk.Hook = Subscriber{}
