package main

import (
	"context"
	"time"
)

// settle lists the tools again once the server has said for a moment that nothing more
// changed: some say it for each tool that they add. Of one that says it without end the list
// is asked for less and less often.
func (m *mcpServer) settle() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	switch {
	case !m.since.IsZero():
		if now.Sub(m.since) < 5*m.pause {
			m.timer.Reset(m.pause)
		}
		return
	case now.Sub(m.last) > 10*m.pause:
		m.pause = settledAfter
	default:
		was := m.pause
		if m.pause = min(2*m.pause, mostPause); m.pause == mostPause && was < mostPause {
			m.log.Warn("the server's tools change again and again; they are listed once a minute from now on")
		}
	}
	m.since = now
	m.timer = time.AfterFunc(m.pause, m.relist)
}

// relist lists the tools of a connection that lives.
func (m *mcpServer) relist() {
	m.mu.Lock()
	m.since, m.last = time.Time{}, time.Now()
	m.mu.Unlock()
	ctx, cancel := context.WithTimeoutCause(context.Background(), m.settings.Timeout, errSlow)
	defer cancel()
	c := m.server.live()
	if c == nil {
		return // the next call starts it, and lists then
	}
	if err := m.list(ctx, c); err != nil {
		m.log.Warn("the tools that changed could not be listed", "error", err)
	}
}
