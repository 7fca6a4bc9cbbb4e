package server

import (
	"github.com/bothyd/bothy/sdk/rpc"
)

// Preview sends a piece of a turn that is not committed yet to the watches
// that asked for it. It never waits: a client with little room left loses the
// piece, and the next one that it gets says so.
func (s *Server) Preview(p rpc.Preview) {
	for _, w := range s.previewers(p.Run) {
		w.show(p)
	}
}

func (s *Server) previewers(run int64) []*watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []*watch
	for w := range s.watchers {
		if w.preview && (w.run == run || w.run == 0 && w.project == 0 && w.c.lent == nil) {
			found = append(found, w)
		}
	}
	return found
}

// show gives a preview a quarter of the ring at most: the rest is for rows.
func (w *watch) show(p rpc.Preview) {
	p.Watch, p.Preview, p.Dropped = w.id, true, p.Dropped || w.dropped.Load()
	text, err := encodeNote(rpc.NotePreview, p)
	if err != nil || w.ctx.Err() != nil || !w.ring.try(len(text), 4) {
		w.dropped.Store(true)
		return
	}
	w.dropped.Store(false)
	w.c.out.put(text, func() { w.ring.free(len(text)) })
}
