package server

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
)

// The security events that the server itself sees.
const (
	EventRefusedApproval = "refused_approval" // somebody without the role approve, or a plugin, tried what needs it
	EventRefusedAdmin    = "refused_admin"    // the same with the role admin
	EventWrongToken      = "wrong_token"
	EventRefusedChannel  = "refused_channel" // a channel tried what is not for it, or is of no project of its own
	EventRefusedAnswer   = "refused_answer"  // somebody answered by a channel who may not, or with what is no ticket of what waits
	EventRefusedPeer     = "refused_peer"    // a process that may not use the socket at all
	EventTokenReplaced   = "token_replaced"  // somebody changed or removed the file of a token
)

// eventsPerMinute is how many events of a kind are passed on. What a peer can
// cause without end must not fill the disk.
const eventsPerMinute = 30

// alarm passes security events on to the audit and to the log.
type alarm struct {
	audit Audit
	log   hclog.Logger
	now   func() time.Time

	mu    sync.Mutex
	since time.Time
	count map[string]int // since then, by event
	left  map[string]int // not passed on and not told of yet
}

func newAlarm(audit Audit, log hclog.Logger) *alarm {
	return &alarm{audit: audit, log: log, now: time.Now, count: map[string]int{}, left: map[string]int{}}
}

// raise tells of an event. Details are the daemon's own words: what a peer sent
// is no part of them.
func (a *alarm) raise(event, format string, args ...any) {
	detail := fmt.Sprintf(format, args...)
	a.mu.Lock()
	if now := a.now(); now.Sub(a.since) >= time.Minute {
		a.since = now
		clear(a.count)
	}
	a.count[event]++
	if a.count[event] > eventsPerMinute {
		a.left[event]++
		a.mu.Unlock()
		return
	}
	if n := a.left[event]; n > 0 {
		detail += fmt.Sprintf(" (before it, %d of the kind were not written down)", n)
		delete(a.left, event)
	}
	a.mu.Unlock()
	a.log.Warn("security event", "event", event, "detail", detail)
	a.audit.Raise(event, detail)
}

// pause is how long a wrong token waits for its answer.
func (s *Server) pause(ctx context.Context) {
	select {
	case <-time.After(s.limits.WrongToken):
	case <-ctx.Done():
	case <-s.draining.Done():
	}
}
