package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// lostFor is how long a lost connection is tried again.
const lostFor = 5 * time.Minute

// errStopped ends the feed when a person stopped the daemon: it stays stopped.
var errStopped = errors.New("bothyd was stopped: the next prompt starts it again, and what it was working on goes on then")

// follow begins to follow the run, unless that is done already.
func (s *session) follow() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.following || s.ctx.Err() != nil {
		return
	}
	s.following = true
	go s.feed()
}

// feed follows the run until the session is closed, or the daemon is gone for good.
func (s *session) feed() {
	back := start.Reviver{Daemon: s.b.daemon}
	lost := false
	w := client.Watch{Run: s.run, After: s.teller.seq, Preview: true, Attend: true, Retry: lostFor, Lost: func(ctx context.Context, why error) error {
		if errors.Is(why, client.ErrStopped) {
			return errStopped
		}
		lost = true
		return back.Lost(ctx, why)
	}}
	t := s.teller
	s.hearCommands()
	t.resumeQuestion()
	err := s.b.cl.Follow(s.ctx, w, func(e client.Event) error {
		if lost {
			lost = false
			s.hearCommands()
		}
		if e.Preview != nil {
			t.preview(*e.Preview)
			return nil
		}
		back.Heard()
		row := *e.Row
		if err := s.b.cl.Complete(s.ctx, &row); err != nil {
			return err
		}
		t.row(row)
		return nil
	})
	s.mu.Lock()
	s.following = false
	s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.b.log.Warn("the run is not followed any more", "run", s.run, "error", err)
		s.fail(err)
	}
}

// pageOfRows is how many rows of the past are read at a time.
const pageOfRows = 1000

// replay reads what is there page by page, and tells it unless the editor has it.
func (s *session) replay(ctx context.Context, muted bool) error {
	t := s.teller
	t.past, t.muted = true, muted
	defer func() { t.past, t.muted = false, false }()
	for {
		page, err := start.Repeat(ctx, s.b.daemon, s.b.cl, func() (rpc.JournalPage, error) {
			return s.b.cl.Journal(ctx, rpc.JournalParams{Run: strconv.FormatInt(s.run, 10), After: t.seq, Limit: pageOfRows})
		})
		if err != nil {
			return err
		}
		for i := range page.Rows {
			if err := s.b.cl.Complete(ctx, &page.Rows[i]); err != nil {
				return err
			}
			t.row(page.Rows[i])
		}
		if page.Next == 0 {
			return nil
		}
		t.seq = max(t.seq, page.Next)
	}
}
