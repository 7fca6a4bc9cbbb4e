package main

import (
	"context"
	"errors"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/rpc"
)

// What the feed tells.
type (
	// pastCame are rows that were there when the feed began.
	pastCame struct{ rows []sdk.JournalRow }
	// rowCame is a row of the run's journal.
	rowCame struct{ row sdk.JournalRow }
	// previewCame is a piece of what the model writes.
	previewCame struct{ p rpc.Preview }
	// caughtUp is the end of what was there when the feed began.
	caughtUp struct{}
	// connectionLost says that there is no daemon now, and why.
	connectionLost struct{ why error }
	// feedEnded says that nothing more comes.
	feedEnded struct{ err error }
)

// lostFor is how long a lost connection is tried again.
const lostFor = 5 * time.Minute

// errStopped ends the feed when a person stopped the daemon: it stays stopped.
var errStopped = errors.New("bothyd was stopped; the next prompt starts it again")

// follow begins to follow the run.
func (c *conversation) follow() {
	if c.following {
		return
	}
	c.following = true
	ctx, end := context.WithCancel(c.ctx)
	c.leaveFeed = end
	f := feed{c: c, run: c.runID, entered: c.entered, after: c.seq}
	go f.follow(ctx)
}

// feed follows the run that was entered, from the goroutine of its own.
type feed struct {
	c       *conversation
	run     int64
	entered int
	after   int64 // the last row that was told
}

func (f *feed) tell(m tea.Msg) { f.c.send(fromRun{f.entered, m}) }

// follow tells of what is there behind a row, and of what comes until ctx ends.
func (f *feed) follow(ctx context.Context) {
	c := f.c
	f.past(ctx)
	f.tell(caughtUp{})
	back := start.Reviver{Daemon: c.daemon}
	w := client.Watch{Run: f.run, After: f.after, Children: true, Preview: true, Attend: true, Retry: lostFor, Lost: func(ctx context.Context, why error) error {
		if errors.Is(why, client.ErrStopped) {
			return errStopped
		}
		f.tell(connectionLost{why})
		_ = back.Lost(ctx, why) // somebody else may start it yet
		return nil
	}}
	err := c.cl.Follow(ctx, w, func(e client.Event) error {
		if e.Preview != nil {
			f.tell(previewCame{*e.Preview})
			return nil
		}
		back.Heard()
		row := *e.Row
		if err := c.cl.Complete(ctx, &row); err != nil {
			return err
		}
		f.tell(rowCame{row})
		return nil
	})
	if ctx.Err() == nil {
		f.tell(feedEnded{err})
	}
}

// past reads what is there page by page. Where that ends early, following goes on from
// there.
func (f *feed) past(ctx context.Context) {
	for {
		page, err := f.c.cl.Journal(ctx, rpc.JournalParams{Run: strconv.FormatInt(f.run, 10), Children: true, After: f.after, Limit: pageOfRows})
		if err != nil {
			return
		}
		for i := range page.Rows {
			if f.c.cl.Complete(ctx, &page.Rows[i]) != nil {
				return
			}
		}
		if n := len(page.Rows); n > 0 {
			f.after = page.Rows[n-1].Seq
			f.tell(pastCame{page.Rows})
		}
		if page.Next == 0 {
			return
		}
		f.after = max(f.after, page.Next)
	}
}

// pageOfRows is how many rows are read at a time.
const pageOfRows = 1000

// fromRun is what was asked for, or told, while a run was in.
type fromRun struct {
	entered int
	msg     tea.Msg
}

// ask makes a call of the socket, and answers with a message.
func (c *conversation) ask(call func(ctx context.Context) tea.Msg) tea.Cmd {
	entered := c.entered
	return func() tea.Msg { return fromRun{entered, call(c.ctx)} }
}

// late is what was asked for in a run that was left since.
func (c *conversation) late(msg tea.Msg) tea.Cmd {
	switch m := msg.(type) {
	case failure:
		return c.fail(m.err)
	case said:
		return c.say(m.text)
	case answered:
		if m.err != nil {
			return c.fail(m.err) // its question waits there still
		}
	case takenBack:
		if m.t.Taken {
			c.typed.add(m.t.Prompt) // it waits nowhere else any more
		}
	}
	return nil
}
