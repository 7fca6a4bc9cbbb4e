package main

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
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
	w := client.Watch{Run: s.run, After: s.teller.seq, Children: true, Preview: true, Attend: true, Retry: lostFor, Lost: func(ctx context.Context, why error) error {
		if errors.Is(why, client.ErrStopped) {
			return errStopped
		}
		lost = true
		return back.Lost(ctx, why)
	}}
	t := s.teller
	s.b.hears.Do(func() { go s.b.hearSkills() })
	s.tellCommands(s.ctx)
	t.resumeQuestion()
	err := s.b.cl.Follow(s.ctx, w, func(e client.Event) error {
		if lost {
			lost = false
			s.b.isBack()
		}
		if e.Preview != nil {
			t.preview(*e.Preview)
			return nil
		}
		back.Heard()
		row := *e.Row
		made, err := s.complete(s.ctx, &row)
		if err == nil {
			t.row(row, made)
		}
		return err
	})
	s.mu.Lock()
	s.following = false
	s.mu.Unlock()
	if s.ctx.Err() == nil {
		s.b.log.Warn("the run is not followed any more", "run", s.run, "error", err)
		s.lose(err)
	}
}

// pageOfRows is how many rows of the past are read at a time.
const pageOfRows = 1000

// lastChanges is how many calls of the past have their differences asked for: each is a look at
// all that the run did. Those before have what their tools told.
const lastChanges = 30

// replay reads what is there, and tells it unless the editor has it.
func (s *session) replay(ctx context.Context, muted bool) error {
	rows, err := s.past(ctx)
	if err != nil {
		return err
	}
	changes := 0
	for _, row := range rows {
		if _, is := changedBy(row); is {
			changes++
		}
	}
	t := s.teller
	t.past, t.muted = true, muted
	defer func() { t.past, t.muted = false, false }()
	for _, row := range rows {
		_, changed := changedBy(row)
		if changed {
			changes--
		}
		if changed && (muted || changes >= lastChanges) {
			t.row(row, nil)
			continue
		}
		made, err := start.Repeat(ctx, s.b.daemon, s.b.cl, func() ([]acp.ToolCallContent, error) { return s.complete(ctx, &row) })
		if err != nil {
			return err
		}
		t.row(row, made)
	}
	return nil
}

// past are the rows of the run that are there, read page by page.
func (s *session) past(ctx context.Context) (rows []sdk.JournalRow, err error) {
	for after := int64(0); ; {
		page, err := start.Repeat(ctx, s.b.daemon, s.b.cl, func() (rpc.JournalPage, error) {
			return s.b.cl.Journal(ctx, rpc.JournalParams{Run: strconv.FormatInt(s.run, 10), Children: true, After: after, Limit: pageOfRows})
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, page.Rows...)
		if page.Next == 0 {
			return rows, nil
		}
		after = page.Next
	}
}

// complete asks for what a row does not carry itself: a long body, and what a call made of files.
// An error is that the daemon cannot be asked now: the row comes again.
func (s *session) complete(ctx context.Context, row *sdk.JournalRow) (made []acp.ToolCallContent, err error) {
	if s.isChild(row.Run) { // it is told folded
		return nil, nil
	}
	if err := s.b.cl.Complete(ctx, row); err != nil {
		return nil, err
	}
	action, is := changedBy(*row)
	if !is {
		return nil, nil
	}
	found, err := s.b.cl.Changes(ctx, rpc.ChangesOf{Run: strconv.FormatInt(s.run, 10), Action: action})
	switch {
	case start.IsDown(err), start.Ending(err):
		return nil, err
	case err != nil:
		s.b.log.Warn("what a call changed is not shown", "call", action, "error", err)
	}
	for _, d := range found.Differences {
		made = append(made, diffs(d.Diff, s.project)...)
	}
	return made, nil
}

// isChild reports whether a run is one that the session's own delegated work to.
func (s *session) isChild(run int64) bool { return run != 0 && run != s.run }

// changedBy is the path of the action whose changes in files a row records.
func changedBy(row sdk.JournalRow) (action string, is bool) {
	name, is := strings.CutPrefix(row.Path, "change://"+strings.TrimPrefix(sdk.TurnPrefix, "log://"))
	return sdk.TurnPrefix + name, is && row.Kind == sdk.KindEntrySet
}
