package client

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Agents lists the agents that a prompt may name.
func (c *Client) Agents(ctx context.Context, p rpc.AgentsParams) ([]rpc.Agent, error) {
	found, err := ask[rpc.Agents](ctx, c, rpc.MethodAgents, p)
	return found.Agents, err
}

// Agent is one agent with all that is known of it.
func (c *Client) Agent(ctx context.Context, p rpc.AgentParams) (rpc.AgentDetail, error) {
	return ask[rpc.AgentDetail](ctx, c, rpc.MethodAgent, p)
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

// ScanProject makes the files of a project entries that runs find, and those that are what the disk has.
func (c *Client) ScanProject(ctx context.Context, project string) (rpc.ProjectScan, error) {
	return ask[rpc.ProjectScan](ctx, c, rpc.MethodScan, rpc.ProjectParams{Project: project})
}

// Tree lists the files of a project that are entries, as the last scan found them.
func (c *Client) Tree(ctx context.Context, p rpc.TreeParams) (rpc.Tree, error) {
	return ask[rpc.Tree](ctx, c, rpc.MethodTree, p)
}

// Constraints lists what a project says of its files, in the order in which that was set.
func (c *Client) Constraints(ctx context.Context, project string) ([]sdk.FileConstraint, error) {
	all, err := ask[rpc.Constraints](ctx, c, rpc.MethodConstraints, rpc.ProjectParams{Project: project})
	return all.Constraints, err
}

// Constrain says what becomes of the files of a project that a pattern fits, or takes that away; it needs the
// role approve.
func (c *Client) Constrain(ctx context.Context, p rpc.Constrain) (rpc.ProjectScan, error) {
	return ask[rpc.ProjectScan](ctx, c, rpc.MethodConstrain, p)
}
