package agent

import (
	"context"
	"encoding/json"
	"fmt"

	"google.golang.org/grpc"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/internal/pb"
	"github.com/bothyd/bothy/sdk/internal/wire"
)

// Client is an Agent at the other end of a connection. Declared is what Agents
// answers: the manifest of Describe brings them.
type Client struct {
	Declared []sdk.AgentSpec
	rpc      pb.AgentClient
}

// NewClient judges by what is served on conn.
func NewClient(conn grpc.ClientConnInterface, declared ...sdk.AgentSpec) *Client {
	return &Client{Declared: declared, rpc: pb.NewAgentClient(conn)}
}

// Agents returns Declared.
func (c *Client) Agents() []sdk.AgentSpec { return c.Declared }

// Validate asks for a judgement; of a work that is too large a part is told. An error of the connection is returned as
// gRPC gave it; one of the plugin is an *sdk.Error, also of an answer that says two things.
func (c *Client) Validate(ctx context.Context, work sdk.Work) (sdk.Judgement, error) {
	told, err := json.Marshal(work.Fitted(sdk.MaxWork))
	if err != nil {
		return sdk.Judgement{}, fmt.Errorf("encode the work: %w", err)
	}
	resp, err := c.rpc.Validate(ctx, &pb.ValidateRequest{
		WorkJson: told, CallId: work.CallID, Run: work.Key, Project: work.Project, RunDir: work.RunDir, DeadlineUnixMs: wire.Deadline(work.Deadline),
	})
	if err != nil {
		return sdk.Judgement{}, err
	}
	if err := wire.Error(resp.GetFailure()); err != nil {
		return sdk.Judgement{}, err
	}
	judged := sdk.Judgement{Accepted: resp.GetAccepted(), Missing: resp.GetMissing()}
	if judged.Accepted && len(judged.Missing) > 0 {
		return sdk.Judgement{}, sdk.Errorf(sdk.Validation, "the judgement accepts the result and says what is missing: its author answers one of the two")
	}
	return judged, nil
}

// Cancel asks the running judgement to end. Its Validate still returns; Unimplemented means that the plugin knows no
// Cancel.
func (c *Client) Cancel(ctx context.Context, callID string) error {
	_, err := c.rpc.Cancel(ctx, &pb.CancelRequest{CallId: callID})
	return err
}

var _ Agent = (*Client)(nil)
