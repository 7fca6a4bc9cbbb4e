package tool

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

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
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rpc.Invoke(ctx, request(call))
	if err != nil {
		return sdk.ToolResult{}, err
	}
	return wire.Receive(stream.Recv, out)
}

// Call is Invoke for a tool that sends nothing before its result. A plugin that
// does not serve it answers Unimplemented, as gRPC gave it.
func (c *Client) Call(ctx context.Context, call sdk.Invocation) (sdk.ToolResult, error) {
	m, err := c.rpc.Call(ctx, request(call))
	if err != nil {
		return sdk.ToolResult{}, err
	}
	return wire.End(m.GetResult(), m.GetFailure())
}

func request(call sdk.Invocation) *pb.InvokeRequest {
	return &pb.InvokeRequest{
		Tool: call.Tool, ArgumentsJson: call.Arguments, CallId: call.CallID,
		Run: call.Run, Project: call.Project, RunDir: call.RunDir,
		Argv: call.Argv, Base: call.Base, Network: call.Network, Protection: protection(call.Protection), View: call.View, Unsaved: call.Unsaved, Unsure: call.Unsure, Writes: call.Writes, SameHost: call.SameHost, NotHosts: call.NotHosts,
		DeadlineUnixMs: wire.Deadline(call.Deadline),
	}
}

// protection is nil where nothing was configured, as almost everywhere.
func protection(p sdk.Protection) *pb.Protection {
	if len(p.Refuse)+len(p.Ask)+len(p.Free) == 0 {
		return nil
	}
	return &pb.Protection{Refuse: p.Refuse, Ask: p.Ask, Free: p.Free}
}

// Settle asks what a call came to that an earlier daemon had begun. A plugin
// that serves no Settle answers with the outcome interrupted.
func (c *Client) Settle(ctx context.Context, call sdk.Invocation) (sdk.ToolResult, error) {
	m, err := c.rpc.Settle(ctx, request(call))
	switch {
	case status.Code(err) == codes.Unimplemented:
		return sdk.ToolResult{}, unsettled(call.Tool)
	case err != nil:
		return sdk.ToolResult{}, err
	}
	return wire.End(m.GetResult(), m.GetFailure())
}

// Stage asks what a call would change in files. A plugin that cannot say
// answers with the outcome unavailable.
func (c *Client) Stage(ctx context.Context, call sdk.Invocation) (sdk.Staged, error) {
	m, err := c.rpc.Stage(ctx, request(call))
	switch {
	case status.Code(err) == codes.Unimplemented:
		return sdk.Staged{}, unstaged(call.Tool)
	case err != nil:
		return sdk.Staged{}, err
	case m.GetFailure() != nil:
		return sdk.Staged{}, wire.Error(m.GetFailure())
	}
	return sdk.Staged{Diff: m.GetDiff(), Base: m.GetBase(), Command: m.GetCommand()}, nil
}

// Prepare asks a tool to make ready what its calls in a run need. A plugin that
// serves no Prepare answers with the outcome unavailable.
func (c *Client) Prepare(ctx context.Context, at sdk.Place) (sdk.Prepared, error) {
	m, err := c.rpc.Prepare(ctx, &pb.PrepareRequest{
		Tool: at.Tool, Run: at.Run, Project: at.Project, RunDir: at.RunDir, Network: at.Network,
	})
	switch {
	case status.Code(err) == codes.Unimplemented:
		return sdk.Prepared{}, unprepared(at.Tool)
	case err != nil:
		return sdk.Prepared{}, err
	case m.GetFailure() != nil:
		return sdk.Prepared{}, wire.Error(m.GetFailure())
	}
	return sdk.Prepared{View: m.GetView(), Reason: m.GetReason()}, nil
}

// Cancel asks the running call to stop. The call's Invoke still returns its
// result; Unimplemented means that the plugin knows no Cancel.
func (c *Client) Cancel(ctx context.Context, callID string) error {
	_, err := c.rpc.Cancel(ctx, &pb.CancelRequest{CallId: callID})
	return err
}

var (
	_ Tool     = (*Client)(nil)
	_ Settler  = (*Client)(nil)
	_ Stager   = (*Client)(nil)
	_ Preparer = (*Client)(nil)
)
