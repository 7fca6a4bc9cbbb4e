package host

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/bothyd/bothy/daemon/internal/callback"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/host"
)

// told tells of a durable event, as a call: on its behalf the plugin may ask for services.
func (h Subscriber) told(ctx context.Context, name string, payload json.RawMessage) error {
	var rest sdk.Rest
	if err := json.Unmarshal(payload, &rest); err != nil {
		return sdk.Errorf(sdk.Internal, "the payload of %s: %w", name, err)
	}
	l, end, err := h.i.called(ctx, rest.Run.Key, rest.RunDir)
	if err != nil {
		return err
	}
	defer end()
	c := sdk.Caller{
		Instance: h.i.name, Call: rest.Call(h.i.name), Run: rest.Run.Key, Project: rest.Project, RunDir: rest.RunDir, Model: rest.Run.Model, Depth: callback.Depth(ctx) + 1,
	}
	defer h.i.s.calls.Begin(ctx, c, clocks{})()
	return l.guarded(ctx, c.Call, uncancelled{}, func(rpc context.Context) error { return l.hook.Event(host.Outgoing(rpc), name, payload) })
}

// uncancelled is a kind whose calls end with their requests alone.
type uncancelled struct{}

// Cancel implements canceller.
func (uncancelled) Cancel(context.Context, string) error {
	return status.Error(codes.Unimplemented, "a hook hears of the end of its request")
}
