package tool

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Client is a Tool at the other end of a connection. Specs is what Tools
// answers: the manifest of Describe brings them.
type Client struct {
	Specs []sdk.ToolSpec
	rpc   pb.ToolClient
}

// NewClient calls the tools that are served on conn.
func NewClient(conn grpc.ClientConnInterface, specs ...sdk.ToolSpec) *Client {
	return &Client{Specs: specs, rpc: pb.NewToolClient(conn)}
}

// Tools returns Specs.
func (c *Client) Tools() []sdk.ToolSpec { return c.Specs }

// Invoke runs one call and passes its pieces to out as they come. An error of
// the connection is returned as gRPC gave it; one of the plugin is an
// *sdk.Error.
func (c *Client) Invoke(ctx context.Context, call sdk.Invocation, out Stream) (sdk.ToolResult, error) {
	req := &pb.InvokeRequest{
		Tool: call.Tool, ArgumentsJson: call.Arguments, CallId: call.CallID,
		Run: call.Run, Project: call.Project, RunDir: call.RunDir,
	}
	if !call.Deadline.IsZero() {
		req.DeadlineUnixMs = call.Deadline.UnixMilli()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rpc.Invoke(ctx, req)
	if err != nil {
		return sdk.ToolResult{}, err
	}
	for {
		m, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return sdk.ToolResult{}, sdk.Errorf(sdk.Internal, "the plugin ended the call without a result")
		}
		if err != nil {
			return sdk.ToolResult{}, err
		}
		switch p := m.GetPiece().(type) {
		case *pb.InvokeResponse_Chunk:
			err = out.Chunk(int(p.Chunk.GetChannel()), p.Chunk.GetData())
		case *pb.InvokeResponse_Progress:
			err = out.Progress(p.Progress.GetMessage(), p.Progress.GetFraction())
		case *pb.InvokeResponse_Result:
			return wire.ToolResult(p.Result)
		case *pb.InvokeResponse_Failure:
			return sdk.ToolResult{}, wire.Error(p.Failure)
		}
		if err != nil {
			return sdk.ToolResult{}, fmt.Errorf("pass on a piece of the call: %w", err)
		}
	}
}

// Cancel asks the running call to stop. The call's Invoke still returns its
// result; Unimplemented means that the plugin knows no Cancel.
func (c *Client) Cancel(ctx context.Context, callID string) error {
	_, err := c.rpc.Cancel(ctx, &pb.CancelRequest{CallId: callID})
	return err
}

var _ Tool = (*Client)(nil)
