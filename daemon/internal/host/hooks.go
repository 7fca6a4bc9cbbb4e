package host

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

// hookTimeout bounds one subscriber of a plugin when the caller does not.
const hookTimeout = 10 * time.Second

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

// Event implements sdk.Hook. A plugin that is not there, or does not answer
// within 10 s, is an error: what that means is for the subscription's failure
// mode to say.
func (h Subscriber) Event(ctx context.Context, name string, payload json.RawMessage) error {
	run := runOf(name, payload)
	err := h.call(ctx, run, func(ctx context.Context, l *link) error { return l.hook.Event(ctx, name, payload) })
	if err == nil && run.RunDir != "" {
		h.i.affinity.forget(run.Run.Key)
	}
	return err
}

// runOf is the run that a plugin is told to keep nothing of any more, so that the
// process which has it is told.
func runOf(name string, payload json.RawMessage) sdk.RunEvent {
	var e sdk.RunEvent
	switch name {
	case "run.reset", "run.expired", "run.deleted":
		if json.Unmarshal(payload, &e) != nil {
			return sdk.RunEvent{} // the plugin says what is wrong with it
		}
	}
	return e
}

// Filter implements sdk.Hook; see Event.
func (h Subscriber) Filter(ctx context.Context, name string, value json.RawMessage) (json.RawMessage, error) {
	var out json.RawMessage
	err := h.call(ctx, sdk.RunEvent{}, func(ctx context.Context, l *link) (err error) {
		out, err = l.hook.Filter(ctx, name, value)
		return err
	})
	return out, err
}

func (h Subscriber) call(ctx context.Context, run sdk.RunEvent, do func(context.Context, *link) error) error {
	ctx, cancel := context.WithTimeout(ctx, hookTimeout)
	defer cancel()
	return h.i.once(ctx, run.Run.Key, run.RunDir, do)
}

var _ sdk.Hook = Subscriber{}
