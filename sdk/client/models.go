package client

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// AddModel writes a model block into the user's configuration, and returns when it is in force. A name that
// is taken is an error of outcome conflict.
func (c *Client) AddModel(ctx context.Context, p rpc.ModelAdd) (rpc.ModelAdded, error) {
	return ask[rpc.ModelAdded](ctx, c, rpc.MethodAddModel, p)
}

// RemoveModel takes a model block out of the user's configuration. One that an agent or another block
// names is an error of outcome conflict.
func (c *Client) RemoveModel(ctx context.Context, p rpc.ModelRef) (rpc.ModelRemoved, error) {
	return ask[rpc.ModelRemoved](ctx, c, rpc.MethodRemoveModel, p)
}

// Pull has a provider get a model onto its server, and waits for it. progress, when
// not nil, is told how far it is. The call has a connection of its own; the end of
// ctx closes it, which gives the pull up.
func (c *Client) Pull(ctx context.Context, p rpc.Pull, progress func(rpc.PullProgress)) (rpc.Pulled, error) {
	return heard[rpc.Pulled](ctx, c, rpc.MethodPull, p, rpc.NotePull, progress)
}
