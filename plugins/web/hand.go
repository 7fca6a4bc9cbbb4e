package main

import (
	"context"
	"io"
	"sync"
)

// mostInHand is how many bytes of bodies the plugin holds at a time, beside the beginning of each.
const mostInHand = 32 << 20

// beginning is how many bytes of a body are held without asking for room, so that a page of usual size waits for nobody.
const beginning = 64 << 10

// hand is what the plugin holds of bodies. Each takes room for what it has, and not for what it may come to: a
// server that trickles keeps little from others. Where there is no room left, one of those that wait for more goes
// on all the same, so that bodies which wait for each other come to their end.
type hand struct {
	mu      sync.Mutex
	changed sync.Cond
	held    int
	beyond  *share // the one that goes on all the same
}

func newHand() *hand {
	h := &hand{}
	h.changed.L = &h.mu
	return h
}

// share is what one body takes. It is closed when the body is needed no more.
type share struct {
	of   *hand
	held int
}

func (h *hand) share() *share { return &share{of: h} }

// take waits for room for more bytes.
func (s *share) take(ctx context.Context, more int) error {
	h := s.of
	h.mu.Lock()
	defer h.mu.Unlock()
	defer context.AfterFunc(ctx, h.wake)()
	for h.held+more > mostInHand && h.beyond != nil && h.beyond != s {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		h.changed.Wait()
	}
	if h.held+more > mostInHand {
		h.beyond = s
	}
	h.held += more
	s.held += more
	return nil
}

func (h *hand) wake() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.changed.Broadcast()
}

// close gives back what was taken.
func (s *share) close() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.of.held -= s.held
	s.held = 0
	if s.of.beyond == s {
		s.of.beyond = nil
	}
	s.of.changed.Broadcast()
}

// read reads a body to its end, or as many bytes of it as are wanted.
func (s *share) read(ctx context.Context, from io.Reader, most int) ([]byte, error) {
	body := make([]byte, 0, min(beginning, most))
	for {
		n, err := io.ReadFull(from, body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case atEnd(err):
			return body, nil
		case err != nil || cap(body) == most:
			return body, err
		}
		wider := min(2*cap(body), most)
		if err := s.take(ctx, wider-cap(body)); err != nil {
			return nil, err
		}
		body = append(make([]byte, 0, wider), body...)
	}
}

// atEnd reports whether a reader came to its end. What only wraps that end is another error: an answer that was cut off.
func atEnd(err error) bool { return err == io.EOF || err == io.ErrUnexpectedEOF }
