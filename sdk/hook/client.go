package hook

import (
	"context"
	"encoding/json"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Client is an [sdk.Hook] at the other end of a connection. Subs is what
// Subscriptions answers: the manifest of Describe brings them.
type Client struct {
	Subs []sdk.Subscription
	rpc  pb.HookClient
}

// NewClient calls the hook that is served on conn.
func NewClient(conn grpc.ClientConnInterface, subs ...sdk.Subscription) *Client {
	return &Client{Subs: subs, rpc: pb.NewHookClient(conn)}
}

// Subscriptions returns Subs.
func (c *Client) Subscriptions() []sdk.Subscription { return c.Subs }

// Event implements sdk.Hook. An error of the connection is returned as gRPC gave
// it; one of the plugin is an *sdk.Error.
func (c *Client) Event(ctx context.Context, name string, payload json.RawMessage) error {
	resp, err := c.rpc.Event(ctx, &pb.EventRequest{Name: name, PayloadJson: payload})
	if err != nil {
		return err
	}
	return wire.Error(resp.GetFailure())
}

// Filter implements sdk.Hook. An answer without a value is an error, never a value
// that was emptied by accident.
func (c *Client) Filter(ctx context.Context, name string, value json.RawMessage) (json.RawMessage, error) {
	resp, err := c.rpc.Filter(ctx, &pb.FilterRequest{Name: name, ValueJson: value})
	if err != nil {
		return nil, err
	}
	if f := resp.GetFailure(); f != nil {
		return nil, wire.Error(f)
	}
	if !json.Valid(resp.GetValueJson()) {
		return nil, sdk.Errorf(sdk.Internal, "the filter %s answered with something that is no JSON", name)
	}
	return resp.GetValueJson(), nil
}

var _ sdk.Hook = (*Client)(nil)
