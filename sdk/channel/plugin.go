package channel

import (
	"context"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
)

// Plugin serves a Channel under go-plugin, and dispenses a *Client.
type Plugin struct {
	goplugin.NetRPCUnsupportedPlugin
	Impl Channel
}

// GRPCServer registers Impl.
func (p *Plugin) GRPCServer(_ *goplugin.GRPCBroker, s *grpc.Server) error {
	Register(s, p.Impl)
	return nil
}

// GRPCClient returns a *Client.
func (p *Plugin) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return NewClient(conn), nil
}

var _ goplugin.GRPCPlugin = (*Plugin)(nil)
