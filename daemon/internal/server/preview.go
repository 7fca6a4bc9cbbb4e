package server

import (
	"slices"
	"unicode/utf8"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// maxWritten is how much is kept of an answer that is being written, of its text and
// of its reasoning each: the end of it, for who begins to watch meanwhile.
const maxWritten = 512 << 10

// maxForming is how many of the calls in it are.
const maxForming = 20

// written is what came so far of the answer that a run's model is writing.
type written struct {
	loop            int64
	turn            int
	text, reasoning []byte        // twice of what is kept at most, so that few pieces move them
	calls           []sdk.Forming // the last maxForming
	cut             bool          // it was longer than what is kept
}

// add takes one piece.
func (w *written) add(p rpc.Preview) {
	if p.First || p.Restart || p.Whole || p.Loop != w.loop || p.Turn != w.turn {
		*w = written{loop: p.Loop, turn: p.Turn, cut: p.Dropped}
	}
	w.text, w.reasoning = append(w.text, p.Text...), append(w.reasoning, p.Reasoning...)
	w.calls = append(w.calls, p.Calls...)
	w.calls = w.calls[max(0, len(w.calls)-maxForming):]
	for _, kept := range []*[]byte{&w.text, &w.reasoning} {
		if len(*kept) > 2*maxWritten {
			*kept, w.cut = append((*kept)[:0], end(*kept)...), true
		}
	}
}

// end is what is kept of a text, in whole characters.
func end(text []byte) []byte {
	text = text[max(0, len(text)-maxWritten):]
	for len(text) > 0 && !utf8.RuneStart(text[0]) {
		text = text[1:]
	}
	return text
}

// whole is the answer so far in one piece; false when nothing of it came.
func (w *written) whole(run int64) (rpc.Preview, bool) {
	text, reasoning := end(w.text), end(w.reasoning)
	cut := w.cut || len(text) < len(w.text) || len(reasoning) < len(w.reasoning)
	p := rpc.Preview{Run: run, Loop: w.loop, Turn: w.turn, Text: string(text), Reasoning: string(reasoning), Calls: slices.Clone(w.calls), First: true, Whole: true, Dropped: cut}
	return p, p.Text != "" || p.Reasoning != "" || len(p.Calls) > 0
}

// Preview sends a piece of a turn that is not committed yet to the watches
// that asked for it. It never waits: a client with little room left loses the
// piece, and the next one that it gets says so.
func (c *Clients) Preview(p rpc.Preview) {
	c.mu.Lock()
	if c.writing[p.Run] == nil {
		c.writing[p.Run] = &written{}
	}
	c.writing[p.Run].add(p)
	found := c.previewersOf(p.Run)
	c.mu.Unlock()
	for _, w := range found {
		w.show(p)
	}
}

// Previewed forgets what a run's model was writing: the answer is about to be
// committed, and its row has all of it, or there will be none.
func (c *Clients) Previewed(run int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.writing, run)
}

func (c *Clients) previewers(run int64) []*watch {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.previewersOf(run)
}

func (c *Clients) previewersOf(run int64) []*watch {
	var found []*watch
	for w := range c.watchers {
		if w.joined && w.shows(run) {
			found = append(found, w)
		}
	}
	return found
}

// shows reports whether a watch asked for the previews of a run.
func (w *watch) shows(run int64) bool {
	return w.preview && (w.run == run || w.children.has(run) || w.run == 0 && w.project == 0 && w.c.grant == nil)
}

// join gives a watch the answers that are being written, each as it is so far, and
// has it told what follows. It does so only while the journal ends at seq, up to
// where the watch has sent the rows: so the row of a turn comes before what is
// written in it. False is that there is more to send first.
func (c *Clients) join(w *watch, seq int64) bool {
	w.order.Lock() // what follows comes behind
	defer w.order.Unlock()
	var found []rpc.Preview
	c.mu.Lock()
	if w.c.s.cfg.Store.Seq() != seq {
		c.mu.Unlock()
		return false
	}
	w.joined = true
	for run, so := range c.writing {
		if p, some := so.whole(run); some && w.shows(run) {
			found = append(found, p)
		}
	}
	c.mu.Unlock()
	for _, p := range found {
		w.put(p)
	}
	return true
}

// show gives a preview a quarter of the ring at most: the rest is for rows.
func (w *watch) show(p rpc.Preview) {
	w.order.Lock()
	defer w.order.Unlock()
	p.Dropped = p.Dropped || w.dropped
	w.put(p)
}

func (w *watch) put(p rpc.Preview) {
	p.Watch, p.Preview = w.id, true
	text, err := encodeNote(rpc.NotePreview, p)
	w.dropped = err != nil || w.ctx.Err() != nil || !w.ring.try(len(text), 4)
	if !w.dropped {
		w.c.out.put(text, func() { w.ring.free(len(text)) })
	}
}
