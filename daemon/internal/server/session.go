package server

import (
	"context"
	"maps"
	"slices"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Caller is the connection that a call came on.
type Caller struct {
	// Session names the connection as long as it lasts. It is random, and nobody
	// outside the daemon is told.
	Session string
	Role    rpc.Role
}

func (c *conn) caller() Caller { return Caller{Session: c.session, Role: c.allowed()} }

// attends reports whether somebody who may approve can still be asked here: a
// client that has closed, if only its sending side, answers no more.
func (c *conn) attends() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.silent && c.ctx.Err() == nil && c.role.Allows(rpc.RoleApprove)
}

// hush says that nothing more comes from the client.
func (c *conn) hush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent = true
}

// Attended reports whether a client that may approve follows a run: the
// connection that gave the prompt and said that it attends, named by its
// session, or any that watches the run and said so. An empty session is none.
func (s *Server) Attended(run int64, session string) bool {
	s.mu.Lock()
	conns, watchers := slices.Collect(maps.Keys(s.conns)), slices.Collect(maps.Keys(s.watchers))
	s.mu.Unlock()
	for _, c := range conns {
		if session != "" && c.session == session && c.attends() {
			return true
		}
	}
	for _, w := range watchers {
		if w.attend && w.ctx.Err() == nil && w.c.attends() && s.covers(w, run) {
			return true
		}
	}
	return false
}

// covers reports whether a watch shows a run.
func (s *Server) covers(w *watch, run int64) bool {
	if w.run != 0 || w.root == "" {
		return w.run == 0 || w.run == run
	}
	found, err := s.cfg.Store.Run(context.Background(), run)
	if err != nil {
		return false
	}
	project, ok, err := s.project(context.Background(), w.root)
	return err == nil && ok && project.ID == found.Project
}
