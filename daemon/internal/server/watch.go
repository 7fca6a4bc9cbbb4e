package server

import (
	"context"
	"fmt"
	"sync"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

const (
	watchPage = 64        // rows read from the store at a time
	rowBody   = 512 << 10 // the longest body that a row carries
)

// watch sends one client the journal behind its position. A commit wakes it. It reads
// the store itself until it is up to date, and then sends what is read once for all such
// watches, into a bounded ring: who reads
// slowly slows only this. Who does not make room within Limits.Patience gets
// one gap, and the watch is over; the client watches again from what it has.
type watch struct {
	id       int64
	c        *conn
	run      int64   // 0 is all
	project  int64   // 0 is all; unknown when the watch began before the project did
	root     string  // of the project
	head     []byte  // of a line, up to the row
	states   *states // told in place of rows; nil tells rows
	preview  bool
	attend   bool      // who reads it answers what the runs propose
	children *children // of the run, which it shows too; nil shows none
	ring     *ring
	ctx      context.Context
	cancel   context.CancelFunc
	joined   bool       // it is told of answers that are being written; guarded by Clients.mu
	order    sync.Mutex // keeps previews in order
	dropped  bool       // a preview was dropped since the last one sent; guarded by order
}

func (s *Server) startWatch(ctx context.Context, c *conn, p rpc.WatchParams) (rpc.Watching, error) {
	return s.watch(ctx, c, p, false)
}

// watch begins a watch; waiting has one with states begin with what waits for a person by now.
func (s *Server) watch(ctx context.Context, c *conn, p rpc.WatchParams, waiting bool) (rpc.Watching, error) {
	if err := checkStates(p.States); err != nil {
		return rpc.Watching{}, err
	}
	w := &watch{c: c, root: p.Project, preview: p.Preview, attend: p.Attend, ring: newRing(s.limits)}
	if p.States != "" {
		w.states = newStates(w, p.States)
		w.states.begins = waiting
	}
	var err error
	if w.run, w.project, err = s.scope(ctx, p.Run, p.Project); err != nil {
		return rpc.Watching{}, err
	}
	seq := s.cfg.Store.Seq()
	if p.Children && w.run != 0 {
		if w.children, err = s.childrenOf(ctx, w.run); err != nil {
			return rpc.Watching{}, err
		}
	}
	after := seq
	if p.After != nil {
		after = *p.After
	}
	if after < 0 || after > seq {
		return rpc.Watching{}, wrongParams("after is %d, and the journal ends at %d: read the run anew", after, seq)
	}
	w.ctx, w.cancel = context.WithCancel(c.ctx)
	if err := c.addWatch(w); err != nil {
		w.cancel()
		return rpc.Watching{}, err
	}
	s.mu.Lock()
	s.watchers[w] = struct{}{}
	s.mu.Unlock()
	c.work.Add(1)
	go func() {
		defer c.work.Done()
		defer s.forget(w)
		c.contain("watch", func() { w.pump(after) })
	}()
	return rpc.Watching{Watch: w.id, Seq: seq}, nil
}

func (s *Server) endWatch(_ context.Context, c *conn, p rpc.WatchRef) (rpc.Empty, error) {
	w, ok := c.dropWatch(p.Watch)
	if !ok {
		return rpc.Empty{}, sdk.Errorf(sdk.NotFound, "this connection has no watch %d: it may have ended with a gap", p.Watch)
	}
	w.cancel()
	return rpc.Empty{}, nil
}

func (s *Server) forget(w *watch) {
	w.cancel()
	w.c.dropWatch(w.id)
	s.mu.Lock()
	delete(s.watchers, w)
	s.mu.Unlock()
}

// pump runs until the client, the watch or the daemon ends; while the daemon
// drains it still sends what is committed.
func (w *watch) pump(after int64) {
	store, project, joined, current := w.c.s.cfg.Store, w.project, !w.preview, false
	w.head = rowHead(w.id)
	if w.states != nil && w.states.begins && !w.states.waiting() {
		return
	}
	for {
		changed, seq := store.Changed(), store.Seq()
		var rows []*tailRow
		var err error
		if current {
			rows, current, err = w.c.s.tail.behind(w.c.s.forced, after)
		}
		if err == nil && !current {
			rows, err = w.read(after)
			current = len(rows) < watchPage
		}
		if err == nil && project == unknown { // behind the rows: one of its own is there after it
			_, project, err = w.c.s.scope(w.ctx, "", w.root)
		}
		if err != nil {
			if w.ctx.Err() == nil {
				w.c.s.log.Error("a watch cannot read the journal", "after", after, "error", err)
				w.gap(after)
			}
			return
		}
		for _, row := range rows {
			if w.ctx.Err() != nil {
				return
			}
			if !w.pass(row, project) {
				w.gap(after)
				return
			}
			after = row.Seq
		}
		if w.states != nil && !w.states.flush() {
			return
		}
		if !current {
			continue
		}
		after = max(after, seq) // what is of others was passed over
		if !joined {
			if joined = w.c.s.join(w, seq); !joined {
				continue
			}
		}
		select {
		case <-changed:
		case <-w.ctx.Done():
			return
		case <-w.c.s.draining.Done():
			if len(rows) == 0 {
				return
			}
		}
	}
}

// read reads a page of what is behind a position.
func (w *watch) read(after int64) ([]*tailRow, error) {
	rows, err := w.c.s.cfg.Store.Journal(w.ctx, sdk.JournalQuery{After: after, Limit: watchPage, Run: w.run, Children: w.children != nil, Longest: rowBody})
	out := make([]*tailRow, len(rows))
	for i, row := range rows {
		out[i] = newTailRow(row)
	}
	return out, err
}

// pass sends a row that the watch is about; false says that it could not be sent.
func (w *watch) pass(row *tailRow, project int64) bool {
	w.children.follow(w.run, row.JournalRow)
	if w.run != 0 && row.Run != w.run && !w.children.has(row.Run) || project != 0 && row.Project != project {
		return true
	}
	sees, err := w.c.seesRow(w.ctx, row.JournalRow)
	switch {
	case err != nil || !sees:
		return err == nil
	case w.states != nil:
		return w.states.take(row.JournalRow)
	}
	return w.send(row)
}

func (w *watch) send(row *tailRow) bool {
	text, err := row.encoded(w.c.s.cfg.Redact)
	if err != nil {
		w.c.s.log.Error("a row of the journal cannot be sent", "seq", row.Seq, "error", err)
		return false
	}
	size := len(w.head) + len(text) + 2
	if !w.ring.take(w.ctx, size, w.c.s.limits.Patience) {
		return false
	}
	w.c.out.row(w.head, text, func() {
		w.c.sent.note(row.shown)
		w.ring.free(size)
	})
	return true
}

// rowHead is what stands before a row in the line of a watch, as encodeNote would write it.
func rowHead(watch int64) []byte {
	return fmt.Appendf(nil, `%s"%s","params":{"watch":%d,"row":`, noteHead, rpc.NoteRow, watch)
}

// gap tells where the client has to go on. It is the watch's last line.
func (w *watch) gap(after int64) {
	if w.ctx.Err() != nil {
		return
	}
	gap := rpc.Gap{Watch: w.id, From: after + 1, To: w.c.s.cfg.Store.Seq()}
	w.c.s.log.Debug("a client reads too slowly", "pid", w.c.peer.PID, "from", gap.From, "to", gap.To)
	w.c.out.note(rpc.NoteGap, gap, nil)
}

// covers reports whether a watch shows a run.
func (w *watch) covers(run int64) bool {
	switch {
	case w.run == 0 && w.root == "", w.run == run:
		return true
	case w.run != 0:
		return w.children != nil && w.c.s.below(run, w.run)
	}
	found, err := w.c.s.cfg.Store.Run(context.Background(), run)
	if err != nil {
		return false
	}
	project, ok, err := w.c.s.project(context.Background(), w.root)
	return err == nil && ok && project.ID == found.Project
}
