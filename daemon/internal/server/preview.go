package server

import (
	"github.com/bothyd/bothy/sdk/rpc"
)

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
