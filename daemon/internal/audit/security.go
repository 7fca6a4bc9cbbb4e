package audit

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// Notes is where security events are kept that belong to no run.
type Notes interface {
	Note(ctx context.Context, n sdk.Note) error
}

// EventRefusedCallback is that a plugin asked the daemon for what it is not granted,
// or for more than its quota.
const EventRefusedCallback = "refused_callback"

const (
	mostEvents = 256 // that wait for the store
	noteTime   = 10 * time.Second
)

// Security keeps security events in the journal. Whoever raises one never waits:
// when too many wait, the next that is kept says how many were not.
type Security struct {
	notes Notes
	log   hclog.Logger
	done  chan struct{}

	mu      sync.Mutex
	closed  bool
	queue   chan SecurityEvent
	dropped int64
}

// KeepSecurity begins to keep events. Close ends it.
func KeepSecurity(notes Notes, log hclog.Logger) *Security {
	s := &Security{notes: notes, log: log, done: make(chan struct{}), queue: make(chan SecurityEvent, mostEvents)}
	go s.run()
	return s
}

// Raise keeps an event. It returns at once.
func (s *Security) Raise(event, detail string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	select {
	case s.queue <- SecurityEvent{Event: event, Detail: detail, Dropped: s.dropped}:
		s.dropped = 0
	default:
		s.dropped++
	}
}

// Dropped is how many events were not kept and not told of yet.
func (s *Security) Dropped() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// Close keeps what waits and ends.
func (s *Security) Close() error {
	s.mu.Lock()
	if !s.closed {
		s.closed = true
		close(s.queue)
	}
	s.mu.Unlock()
	<-s.done
	return nil
}

func (s *Security) run() {
	defer close(s.done)
	for e := range s.queue {
		ctx, cancel := context.WithTimeout(context.Background(), noteTime)
		err := s.notes.Note(ctx, sdk.Note{Kind: KindSecurity, Data: e})
		cancel()
		if err == nil {
			continue
		}
		s.log.Error("a security event could not be kept", "event", e.Event, "detail", e.Detail, "error", err)
		s.mu.Lock()
		s.dropped += e.Dropped + 1
		s.mu.Unlock()
	}
}
