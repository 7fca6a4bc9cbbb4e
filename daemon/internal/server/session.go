package server

import (
	"github.com/bothyd/bothy/sdk/rpc"
)

// attends reports whether somebody who may approve can still be asked here: a
// client that has closed, if only its sending side, answers no more.
func (c *conn) attends() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.silent && c.ctx.Err() == nil && c.role.Allows(rpc.RoleApprove)
}

// hears reports whether a channel is still at the other end, and may give work.
func (c *conn) hears() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.silent && c.ctx.Err() == nil && c.shown && c.role.Allows(rpc.RoleSubmit)
}

// hush says that nothing more comes from the client.
func (c *conn) hush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent = true
}
