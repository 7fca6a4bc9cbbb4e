package client

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Pull has a provider get a model onto its server, and waits for it. progress, when
// not nil, is told how far it is. The call has a connection of its own; the end of
// ctx closes it, which gives the pull up.
func (c *Client) Pull(ctx context.Context, p rpc.Pull, progress func(rpc.PullProgress)) (rpc.Pulled, error) {
	return heard[rpc.Pulled](ctx, c, rpc.MethodPull, p, rpc.NotePull, progress)
}
