package client

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Agents lists the agents that a prompt may name.
func (c *Client) Agents(ctx context.Context, p rpc.AgentsParams) ([]rpc.Agent, error) {
	found, err := ask[rpc.Agents](ctx, c, rpc.MethodAgents, p)
	return found.Agents, err
}

// Files finds files of a project by a query, for completion.
func (c *Client) Files(ctx context.Context, p rpc.FilesParams) (rpc.Files, error) {
	return ask[rpc.Files](ctx, c, rpc.MethodFiles, p)
}

// File reads a file of a project, or a range of it, as a prompt would have it. A prompt
// names it in Prompt.Attachments and does not take this text along.
func (c *Client) File(ctx context.Context, p rpc.FileParams) (rpc.FileText, error) {
	return ask[rpc.FileText](ctx, c, rpc.MethodFile, p)
}
