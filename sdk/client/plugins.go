package client

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// DevPlugin has the daemon use a plugin's process that its author runs, and
// waits until that has gone. attached is told when it is in use. The call has a
// connection of its own; the end of ctx closes it, which gives the process up.
func (c *Client) DevPlugin(ctx context.Context, p rpc.PluginDev, attached func(rpc.PluginAttached)) (rpc.PluginDetached, error) {
	return heard[rpc.PluginDetached](ctx, c, rpc.MethodPluginDev, p, rpc.NoteAttached, attached)
}
