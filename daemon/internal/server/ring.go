package server

import (
	"context"
	"sync"
	"time"
)

// ring bounds the lines of one watch that wait to be written. It counts; the
// lines themselves stand in the connection's outbox, in order with its answers.
type ring struct {
	rows, bytes int // the bounds

	mu        sync.Mutex
	waiting   int
	size      int
	available chan struct{}
}

func newRing(limits Limits) *ring {
	return &ring{rows: limits.RingRows, bytes: limits.RingBytes, available: make(chan struct{}, 1)}
}

// try takes room for a line of n bytes if no more than a share of the ring
// (1 is all of it, 4 a quarter) is then in use. An empty ring takes any line.
func (r *ring) try(n, share int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.waiting > 0 && (r.waiting >= r.rows/share || r.size+n > r.bytes/share) {
		return false
	}
	r.waiting++
	r.size += n
	return true
}

// take is try, waiting up to patience for the writer to make room.
func (r *ring) take(ctx context.Context, n int, patience time.Duration) bool {
	if r.try(n, 1) {
		return true
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case <-r.available:
			if r.try(n, 1) {
				return true
			}
		case <-late.C:
			return false
		case <-ctx.Done():
			return false
		}
	}
}

// free gives the room of a written line back.
func (r *ring) free(n int) {
	r.mu.Lock()
	r.waiting--
	r.size -= n
	r.mu.Unlock()
	select {
	case r.available <- struct{}{}:
	default:
	}
}
