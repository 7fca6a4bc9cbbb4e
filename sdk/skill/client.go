package skill

import (
	"context"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Client is a Skill at the other end of a connection. Names is what Skills
// answers: the manifest of Describe brings them.
type Client struct {
	Names []string
	rpc   pb.SkillClient
}

// NewClient executes the skills that are served on conn.
func NewClient(conn grpc.ClientConnInterface, names ...string) *Client {
	return &Client{Names: names, rpc: pb.NewSkillClient(conn)}
}

// Skills returns Names.
func (c *Client) Skills() []string { return c.Names }

// Execute executes a skill and passes the pieces to out as they come. An error
// of the connection is returned as gRPC gave it; one of the plugin is an
// *sdk.Error.
func (c *Client) Execute(ctx context.Context, call sdk.SkillCall, out Stream) (sdk.ToolResult, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.rpc.Execute(ctx, request(call))
	if err != nil {
		return sdk.ToolResult{}, err
	}
	return wire.Receive(stream.Recv, out)
}

// request writes a call. Input and body may hold what a person or a model
// wrote, which need not be UTF-8.
func request(call sdk.SkillCall) *pb.ExecuteRequest {
	return &pb.ExecuteRequest{
		Skill: call.Skill, Input: wire.Text(call.Input), Body: wire.Text(call.Body), Folder: call.Folder, Model: call.Model,
		CallId: call.CallID, Run: call.Run, Project: call.Project, RunDir: call.RunDir,
		DeadlineUnixMs: wire.Deadline(call.Deadline),
	}
}

// Cancel asks the running execution to stop. Its Execute still returns a
// result; Unimplemented means that the plugin knows no Cancel.
func (c *Client) Cancel(ctx context.Context, callID string) error {
	_, err := c.rpc.Cancel(ctx, &pb.CancelRequest{CallId: callID})
	return err
}

var _ Skill = (*Client)(nil)
