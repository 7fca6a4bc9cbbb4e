package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// feed follows a run's journal behind a row and tells of it until ctx ends. Seen is the
// position up to which the run was there before.
func (c *conversation) feed(ctx context.Context, run, after, seen int64) {
	told, starts := false, 0
	tell := func() {
		if !told {
			told = true
			c.send(caughtUp{})
		}
	}
	if seen == 0 {
		tell()
	}
	w := client.Watch{Run: run, After: after, Preview: true, Attend: true, Retry: lostFor, Lost: func(ctx context.Context, why error) error {
		if errors.Is(why, client.ErrStopped) {
			return errStopped
		}
		c.send(connectionLost{why})
		if starts++; starts <= start.MostStarts { // a daemon that cannot start is not started for ever
			c.revive(ctx, why)
		}
		return nil
	}}
	err := c.cl.Follow(ctx, w, func(e client.Event) error {
		starts = 0
		switch {
		case e.Preview != nil:
			tell()
			c.send(previewCame{*e.Preview})
		default:
			row := *e.Row
			if row.Seq > seen {
				tell()
			}
			if err := c.complete(ctx, &row); err != nil {
				return err
			}
			c.send(rowCame{row})
			if row.Seq >= seen {
				tell()
			}
		}
		return nil
	})
	if ctx.Err() == nil {
		c.send(feedEnded{err})
	}
}

// complete reads the body of an entry that has ended where the row has none.
func (c *conversation) complete(ctx context.Context, row *sdk.JournalRow) error {
	var change sdk.EntryChange
	if row.Kind != sdk.KindEntrySet || row.Body != nil || row.BodyHash == "" || json.Unmarshal(row.Data, &change) != nil || !change.State.Ended() {
		return nil
	}
	page, err := c.cl.Entries(ctx, rpc.EntriesParams{Run: strconv.FormatInt(row.Run, 10), Pattern: row.Path})
	if err != nil {
		return err
	}
	for _, e := range page.Entries {
		if sum := sha256.Sum256([]byte(e.Body)); e.Path == row.Path && hex.EncodeToString(sum[:]) == row.BodyHash {
			row.Body = &e.Body // else a later row tells what it became
		}
	}
	return nil
}

// revive starts a daemon where none runs any more. The next try tells whether there is one.
func (c *conversation) revive(ctx context.Context, why error) {
	var down *client.NotRunningError
	if !errors.As(why, &down) || start.Holder(down.Socket) != 0 {
		return
	}
	if cl, err := c.daemon.Start(ctx, down.Socket); err == nil {
		_ = cl.Close() // the feed connects by itself
	}
}

// ask makes a call of the socket, and answers with a message.
func (c *conversation) ask(call func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg { return call(c.ctx) }
}
