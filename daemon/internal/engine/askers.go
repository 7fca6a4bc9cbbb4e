package engine

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// askers maps names to sessions: those of the connections that submitted a prompt and
// answer what its loop proposes. A session is a secret, so the loop's row, which clients
// read, has only the name. A daemon that is started later finds no session under it,
// since the connection ended with the daemon before.
type askers struct {
	made     atomic.Int64
	sessions sync.Map // by name
}

// name makes a name for a session; empty for none.
func (s *askers) name(session, boot string) string {
	if session == "" {
		return ""
	}
	name := fmt.Sprintf("%s-%d", boot, s.made.Add(1))
	s.sessions.Store(name, session)
	return name
}

// session is the one of that name; empty when this daemon knows none.
func (s *askers) session(name string) string {
	session, _ := s.sessions.Load(name)
	text, _ := session.(string)
	return text
}

// forget drops the name of a loop that has ended, or was never queued.
func (s *askers) forget(name string) { s.sessions.Delete(name) }
