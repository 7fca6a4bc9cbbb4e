package server

import (
	"context"
	"slices"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Farewell tells every client, now and from now on, that the daemon stops in
// order. Calls are still answered until Close: who follows a run sees what ends.
func (s *Server) Farewell() {
	s.stopping.Store(true)
	note, err := encodeNote(rpc.NoteStopping, rpc.Empty{})
	if err != nil {
		s.log.Error("clients cannot be told of the stop", "error", err)
		return
	}
	note = slices.Clip(note) // each connection writes its newline behind a copy
	s.say(note)
}

// Close stops accepting, lets calls in flight end and watches send what is
// committed, and then closes every connection. When ctx ends first, calls are
// cancelled. It may be called more than once.
func (s *Server) Close(ctx context.Context) {
	s.mu.Lock()
	s.drain()
	s.mu.Unlock()
	done := make(chan struct{})
	go func() { s.serving.Wait(); close(done) }()
	select {
	case <-done:
	case <-ctx.Done():
		s.force()
		<-done
	}
	s.mu.Lock()
	web := s.web
	s.mu.Unlock()
	if web != nil {
		web.end()
	}
}
