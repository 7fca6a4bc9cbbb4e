package channel

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Client is a Channel at the other end of a connection.
type Client struct{ rpc pb.ChannelClient }

// NewClient serves by the channel that is served on conn.
func NewClient(conn grpc.ClientConnInterface) *Client {
	return &Client{rpc: pb.NewChannelClient(conn)}
}

// Serve implements Channel. It returns when the plugin's Serve has; only when
// ctx ends first does it not wait for that, and Cancel is the way to end it in
// order. An error of the connection is returned as gRPC gave it; one of the
// plugin is an *sdk.Error.
func (c *Client) Serve(ctx context.Context, access Access, say func(status string)) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rpc.Serve(ctx, &pb.ServeRequest{Socket: access.Socket, Token: access.Token, Projects: access.Projects})
	if err != nil {
		return err
	}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		switch p := m.GetPiece().(type) {
		case *pb.ServeResponse_Status:
			say(p.Status)
		case *pb.ServeResponse_Failure:
			return wire.Error(p.Failure)
		}
	}
}

// Cancel asks the running Serve to end, which its stream then shows. No Serve
// at work is no error; Unimplemented means that the plugin knows no Cancel.
func (c *Client) Cancel(ctx context.Context) error {
	_, err := c.rpc.Cancel(ctx, &pb.CancelRequest{})
	return err
}

var _ Channel = (*Client)(nil)
