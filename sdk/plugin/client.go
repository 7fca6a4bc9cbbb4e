package plugin

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/conformance"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Client is the daemon's view of the Plugin service. Errors of the connection
// are returned as gRPC gave them; those of the plugin are *sdk.Error.
type Client struct{ rpc pb.PluginClient }

// NewClient calls the plugin that is served on conn.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pb.NewPluginClient(conn)}
}

// Services says where a plugin finds the daemon's services.
type Services = conformance.Services

// Describe returns the manifest.
func (c *Client) Describe(ctx context.Context) (sdk.Manifest, error) {
	resp, err := c.rpc.Describe(ctx, &pb.DescribeRequest{})
	if err != nil {
		return sdk.Manifest{}, err
	}
	return sdk.ReadManifest(resp.GetManifestJson())
}

// Configure hands the settings over, and returns the manifest as it is with them.
func (c *Client) Configure(ctx context.Context, s sdk.Settings, at Services) (sdk.Manifest, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return sdk.Manifest{}, fmt.Errorf("encode the settings: %w", err)
	}
	resp, err := c.rpc.Configure(ctx, &pb.ConfigureRequest{
		SettingsJson: b, HostAddress: at.Address, HostToken: at.Token, Features: Features(),
	})
	switch {
	case err != nil:
		return sdk.Manifest{}, err
	case resp.GetFailure() != nil:
		return sdk.Manifest{}, wire.Error(resp.GetFailure())
	case len(resp.GetManifestJson()) == 0:
		return c.Describe(ctx)
	}
	return sdk.ReadManifest(resp.GetManifestJson())
}

// Watch calls changed with each new manifest until ctx or the plugin ends.
func (c *Client) Watch(ctx context.Context, changed func(sdk.Manifest)) error {
	stream, err := c.rpc.Watch(ctx, &pb.WatchRequest{})
	if err != nil {
		return err
	}
	for {
		resp, err := stream.Recv()
		if err != nil {
			return err
		}
		m, err := sdk.ReadManifest(resp.GetManifestJson())
		if err != nil {
			return err
		}
		changed(m)
	}
}

// Health returns nil when the plugin can work, an *sdk.Error with Unavailable
// and its reason when it says that it cannot.
func (c *Client) Health(ctx context.Context) error {
	resp, err := c.rpc.Health(ctx, &pb.HealthRequest{})
	if err != nil {
		return err
	}
	if !resp.GetReady() {
		return &sdk.Error{Outcome: sdk.Unavailable, Message: resp.GetMessage()}
	}
	return nil
}

// Drain asks the plugin to finish what runs and to take on nothing new.
func (c *Client) Drain(ctx context.Context) error {
	_, err := c.rpc.Drain(ctx, &pb.DrainRequest{})
	return err
}

// Release asks the plugin to give up what it keeps for a run. Only one with the
// feature "release" knows the call.
func (c *Client) Release(ctx context.Context, run, runDir string) error {
	resp, err := c.rpc.Release(ctx, &pb.ReleaseRequest{Run: run, RunDir: runDir})
	if err != nil {
		return err
	}
	return wire.Error(resp.GetFailure())
}
