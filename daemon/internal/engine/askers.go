package engine

import (
	"fmt"
	"sync"
)

// askers knows the connections that answer what a loop proposes. A session is
// for nobody to see, so the loop's row has another name for it, which means
// nothing to the next daemon: the connection does not outlive this one.
type askers struct {
	mu       sync.Mutex
	next     int
	sessions map[string]string
}

// name makes a name for a session; empty for none.
func (s *askers) name(session, boot string) string {
	if session == "" {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sessions == nil {
		s.sessions = map[string]string{}
	}
	s.next++
	name := fmt.Sprintf("%s-%d", boot, s.next)
	s.sessions[name] = session
	return name
}

// session is the one of that name; empty when this daemon knows none.
func (s *askers) session(name string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sessions[name]
}

// forget drops the name of a loop that has ended, or was never queued.
func (s *askers) forget(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sessions, name)
}
