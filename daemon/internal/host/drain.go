package host

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// inflight counts the calls on a link, so that one which takes no more ends
// with the last of them. Its zero value is open.
type inflight struct {
	mu    sync.Mutex
	calls int
	shut  chan struct{} // made when the link takes no more calls, closed with the last
}

// begin counts a call, which must end; false when the link takes no more.
func (t *inflight) begin() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shut != nil {
		return false
	}
	t.calls++
	return true
}

// join counts one more call beside one that is counted and does not end meanwhile,
// even when the link takes no more.
func (t *inflight) join() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
}

func (t *inflight) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.calls--; t.calls == 0 && t.shut != nil {
		close(t.shut)
	}
}

// drained makes the link take no more calls; the channel is closed when the last
// one has ended.
func (t *inflight) drained() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.shut == nil {
		t.shut = make(chan struct{})
		if t.calls == 0 {
			close(t.shut)
		}
	}
	return t.shut
}

// finish ends the channel of a link and lets its calls end, then the plugin. What
// does not end within Config.DrainLimit is ended with it; an orderly stop of the
// daemon does not wait for calls.
func (s *Supervisor) finish(l *link) {
	l.channelServer.close()
	limit := time.NewTimer(s.cfg.DrainLimit)
	defer limit.Stop()
	select {
	case <-l.calls.drained():
	case <-l.alive.Done():
	case <-s.life.Done():
	case <-limit.C:
		l.fail(fmt.Sprintf("another process of the plugin had taken its place %v before, and this call had not ended", s.cfg.DrainLimit))
		l.close()
		return
	}
	if l.alive.Err() == nil {
		l.drain(s.stopContext())
	}
	l.close()
}

// stopContext bounds draining while the daemon stops.
func (s *Supervisor) stopContext() context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stopping == nil {
		return context.Background()
	}
	return s.stopping
}

// has keeps a link among those whose process may be there.
func (s *Supervisor) has(l *link) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.links[l] = struct{}{}
	l.proc.reaper, l.proc.spaces = s.reaper, &s.spaces
	l.gone = func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.links, l)
	}
}
