package client

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/bothyd/bothy/sdk/rpc"
)

// DevPlugin has the daemon use a plugin's process that its author runs, and
// waits until that has gone. attached is told when it is in use. The call has a
// connection of its own; the end of ctx closes it, which gives the process up.
func (c *Client) DevPlugin(ctx context.Context, p rpc.PluginDev, attached func(rpc.PluginAttached)) (rpc.PluginDetached, error) {
	var done rpc.PluginDetached
	notes := make(chan rpc.Request, 16)
	l, _, err := c.open(ctx, notes)
	if err != nil {
		return done, err
	}
	var telling sync.WaitGroup
	defer func() {
		_ = l.close() // the answer is what counts
		telling.Wait()
	}()
	telling.Go(func() { // until the connection ends
		for n := range notes {
			var a rpc.PluginAttached
			if attached != nil && n.Method == rpc.NoteAttached && json.Unmarshal(n.Params, &a) == nil {
				attached(a)
			}
		}
	})
	raw, err := l.call(ctx, rpc.MethodPluginDev, p)
	if err != nil {
		return done, err
	}
	if err := json.Unmarshal(raw, &done); err != nil {
		return done, fmt.Errorf("answer of %s: %w", rpc.MethodPluginDev, err)
	}
	return done, nil
}
