package engine

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// askers knows the connections that answer what a loop proposes. A session is
// for nobody to see, so the loop's row has another name for it, which means
// nothing to the next daemon: the connection does not outlive this one.
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
