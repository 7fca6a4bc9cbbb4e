package main

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"os/exec"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
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
		if starts++; starts <= mostTries { // a daemon that cannot start is not started for ever
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

// revive starts a daemon where none runs any more.
func (c *conversation) revive(ctx context.Context, why error) {
	var down *client.NotRunningError
	if c.o.bothy == "" || !errors.As(why, &down) {
		return
	}
	cmd := exec.CommandContext(ctx, c.o.bothy, "runs", "list", "--project", c.o.project, "--json")
	_ = cmd.Run() // the next try tells whether there is one
}

// mostTries is how often a prompt is given to a daemon that dies before it has answered.
const mostTries = 3

// give gives a prompt to the daemon, under a key of its own: a daemon that has taken it
// already knows it by that.
func (c *conversation) give(ctx context.Context, p rpc.Prompt) (rpc.Accepted, error) {
	p.Key = rand.Text()
	for try := 1; ; try++ {
		a, err := c.cl.Act(ctx, p)
		var down *client.NotRunningError
		if err == nil || try > mostTries || !errors.As(err, &down) && !errors.Is(err, client.ErrDisconnected) && !errors.Is(err, client.ErrStopped) {
			return a, err
		}
		c.revive(ctx, err)
	}
}

// ask makes a call of the socket, and answers with a message.
func (c *conversation) ask(call func(ctx context.Context) tea.Msg) tea.Cmd {
	return func() tea.Msg { return call(c.ctx) }
}
