package client

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Login keeps a key, which needs the role admin. It returns when what uses the key was restarted.
func (c *Client) Login(ctx context.Context, p rpc.KeyLogin) (rpc.KeyKept, error) {
	return ask[rpc.KeyKept](ctx, c, rpc.MethodLogin, p)
}

// Logout removes a key from wherever it is kept, which needs the role admin.
func (c *Client) Logout(ctx context.Context, p rpc.KeyRef) (rpc.KeyRemoved, error) {
	return ask[rpc.KeyRemoved](ctx, c, rpc.MethodLogout, p)
}

// Keys lists the keys that the configuration asks for, and where they are, which needs the role
// admin.
func (c *Client) Keys(ctx context.Context) (rpc.Keys, error) {
	return ask[rpc.Keys](ctx, c, rpc.MethodKeys, nil)
}

// Give gives the daemon keys that it lacks (rpc.Hello.Lacks), for as long as it runs. On this
// connection Hello says no more that it lacks any.
func (c *Client) Give(ctx context.Context, keys map[string]string) (rpc.KeysTaken, error) {
	taken, err := ask[rpc.KeysTaken](ctx, c, rpc.MethodGive, rpc.KeysGive{Keys: keys})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.hello.Lacks = nil
	return taken, err
}
