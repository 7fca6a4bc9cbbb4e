package server

import (
	"fmt"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// reserved are the connections beyond Limits.Connections for who proves to be a
// person: one that shows no token there may say hello and nothing else.
const reserved = 8

// pastime is what a connection did, as it counts when there is no room.
type pastime struct {
	spoke  bool      // a request that there is
	last   time.Time // when it came, said something or was answered
	beyond bool      // it has a place of the reserved ones, as long as it shows no token
}

// full is the error of who finds no place, or must give it up.
func (s *Server) full() *rpc.Error {
	return rpc.Errorf(rpc.CodeBusy, sdk.Unavailable, fmt.Sprintf("the daemon already has %d connections: close some and try again", s.limits.Connections))
}

// makeRoom has a place for a connection of a process. When all are taken, who needs
// its place least gives it up; else there are those beyond. It is called with the lock
// of who is let in.
func (s *Server) makeRoom(pid int) (beyond, ok bool) {
	conns := s.all()
	if len(conns) < s.limits.Connections {
		return false, true
	}
	left := len(conns)
	if c := s.leastMissed(conns, pid, time.Now()); c != nil {
		s.giveUp(c)
		left--
	}
	return left >= s.limits.Connections, left < s.limits.Connections+reserved
}

// leastMissed is the connection that gives its place up for one of a process: one
// that never said anything, else one that is idle, else one that only watches, of
// each kind the one that was silent for longest. Nobody who showed a token or waits
// for an answer is among them, and who only watches, or was idle for a moment, is
// when its process has more connections than the new one's would have.
func (s *Server) leastMissed(conns []*conn, pid int, now time.Time) *conn {
	of := map[int]int{}
	for _, c := range conns {
		of[c.peer.PID]++
	}
	var found *conn
	least, since := 0, time.Time{}
	for _, c := range conns {
		kind, last := c.missed()
		many := of[c.peer.PID] > of[pid]+1
		switch {
		case kind == missedNever, kind == missedLittle && (many || now.Sub(last) >= s.limits.FirstByte), kind == missedMore && many:
		default:
			continue
		}
		if found == nil || kind < least || kind == least && last.Before(since) {
			found, least, since = c, kind, last
		}
	}
	return found
}

// How much somebody would miss a connection.
const (
	missedNever  = iota // it never said anything
	missedLittle        // it waits for nothing
	missedMore          // it watches
	missedMost          // it showed a token, or waits for an answer
)

func (c *conn) missed() (kind int, last time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case c.role.NeedsToken(), c.shown, len(c.slots) > 0:
		kind = missedMost
	case !c.past.spoke:
		kind = missedNever
	case len(c.watches) > 0:
		kind = missedMore
	default:
		kind = missedLittle
	}
	return kind, c.past.last
}

// active notes that the connection is being used.
func (c *conn) active() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.past.spoke, c.past.last = true, time.Now()
}

// giveUp ends a connection for another one, which does not wait for that: a WebSocket has a moment for its
// goodbye. Its goroutines end by themselves.
func (s *Server) giveUp(c *conn) {
	s.log.Debug("a connection gives its place up", "pid", c.peer.PID)
	s.mu.Lock()
	delete(s.conns, c)
	s.mu.Unlock()
	go func() {
		c.line.last(encodeResponse(nil, nil, s.full()))
		c.cancel()
		c.line.close()
	}()
}

// belongs refuses who has a reserved place and showed no token, and hears nothing
// more of it.
func (c *conn) belongs() error {
	c.mu.Lock()
	strange := c.past.beyond && !c.role.NeedsToken()
	c.mu.Unlock()
	if !strange {
		return nil
	}
	c.deafen()
	return c.s.full()
}
