package server

import (
	"context"
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// mostLent is how many servers of MCP one call lends.
const mostLent = 32

// lend lasts as long as the connection.
func (s *Server) lend(ctx context.Context, c *conn, p rpc.Lend) (rpc.Lent, error) {
	run, err := s.find(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.Lent{}, err
	}
	if len(p.Servers) > mostLent {
		return rpc.Lent{}, wrongParams("%d servers are lent at once, and at most %d can be", len(p.Servers), mostLent)
	}
	lent := rpc.Lent{Servers: []rpc.LentAs{}}
	if len(p.Servers) > 0 {
		var end func()
		lent.Servers, end = s.cfg.Daemon.Lend(ctx, run, p.Servers)
		context.AfterFunc(c.ctx, end)
	}
	if p.Buffers {
		c.mu.Lock()
		c.lends[run.Key] = true
		c.mu.Unlock()
	}
	return lent, nil
}

// giveBuffer hands an answer to who waits for it; nobody does when it comes late.
func (s *Server) giveBuffer(_ context.Context, c *conn, p rpc.BufferGiven) (rpc.Empty, error) {
	c.mu.Lock()
	wants := c.wants[p.ID]
	delete(c.wants, p.ID)
	c.mu.Unlock()
	if wants != nil {
		wants <- p
	}
	return rpc.Empty{}, nil
}

// Unsaved asks the clients that lend their buffers to the run of a key how they have a
// file: the first that has it otherwise than the disk counts, and else one that does not say
// in time. It is nil where no client lends any.
func (c *Clients) Unsaved(run string) func(ctx context.Context, path string) sdk.Buffer {
	lenders := slices.DeleteFunc(c.all(), func(conn *conn) bool { return !conn.lendsTo(run) })
	if len(lenders) == 0 {
		return nil
	}
	return func(ctx context.Context, path string) (is sdk.Buffer) {
		for _, conn := range lenders {
			switch given := conn.unsaved(ctx, path); {
			case given.Unknown:
				is.Unknown = true
			case given.Unsaved:
				return sdk.Buffer{Unsaved: true, Text: given.Text}
			}
		}
		return is
	}
}

func (c *conn) lendsTo(run string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lends[run] && !c.silent && c.ctx.Err() == nil && c.role.Allows(rpc.RoleApprove)
}

func (c *conn) unsaved(ctx context.Context, path string) (given rpc.BufferGiven) {
	c.mu.Lock()
	c.next++
	id, answer := c.next, make(chan rpc.BufferGiven, 1)
	c.wants[id] = answer
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.wants, id)
	}()
	ctx, cancel := context.WithTimeout(ctx, c.s.limits.Buffer)
	defer cancel()
	c.out.note(rpc.NoteBuffer, rpc.BufferWanted{ID: id, Path: filepath.Clean(path)}, nil)
	select {
	case given = <-answer:
	case <-ctx.Done():
		given.Unknown = true
	case <-c.ctx.Done():
		given.Unknown = true // what it had is not saved by that
	}
	return given
}
