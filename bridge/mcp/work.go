package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/client/start"
	"github.com/bothyd/bothy/sdk/timeline"
)

// work is a prompt that is worked on.
type work struct {
	run      int64
	alias    string
	loop     int64
	sequence int
	from     int64 // the position in the journal that the rows about it stand behind
	told     int64 // the last row that the client was told of
}

// state is how far a prompt is.
type state struct {
	loop  *timeline.Loop // that has ended; nil while it has not
	waits *sdk.Proposal  // what a person has to answer
	seq   int64
}

// lostFor is how long a lost connection is tried again.
const lostFor = 5 * time.Minute

// errStopped is that a person stopped the daemon: it stays stopped.
var errStopped = errors.New("bothyd was stopped, and goes on with it when it is started again")

// await follows a prompt until it has ended, or a person has to answer. The daemon is started again
// where it died.
func (b *bridge) await(ctx context.Context, tell *teller, w work) (s state, err error) {
	back := start.Reviver{Daemon: b.daemon}
	watch := client.Watch{Run: w.run, After: w.from, Children: true, Attend: b.o.approve, Retry: lostFor, Lost: func(ctx context.Context, why error) error {
		if errors.Is(why, client.ErrStopped) {
			return errStopped
		}
		return back.Lost(ctx, why)
	}}
	var tree timeline.Tree
	err = b.cl.Follow(ctx, watch, func(e client.Event) error {
		if e.Row == nil {
			return nil
		}
		back.Heard()
		row := *e.Row
		if err := b.cl.Complete(ctx, &row); err != nil {
			return err
		}
		c := tree.Take(row)
		loop := tree.Top(c.Loop) // that of the prompt, of delegated work too
		if loop == nil || loop.ID != w.loop {
			return nil
		}
		s.seq = row.Seq
		if row.Seq > w.told {
			tellRow(tell, row, c)
		}
		if loop.End != nil {
			s.loop = loop
			return client.ErrDone
		}
		a := tree.Waits(loop)
		if a == nil || a.Proposal == nil {
			return nil
		}
		p, err := b.cl.Proposal(ctx, a.Proposal.ID)
		if err != nil || p.State != sdk.StateProposed {
			return ignoreGone(err) // it was answered meanwhile
		}
		s.waits = &p
		return client.ErrDone
	})
	return s, err
}

// ignoreGone leaves out that a proposal is not there any more.
func ignoreGone(err error) error {
	if sdk.OutcomeOf(err) == sdk.NotFound {
		return nil
	}
	return err
}

// tellRow tells of a row what a person follows.
func tellRow(tell *teller, row sdk.JournalRow, c timeline.Change) {
	switch {
	case c.Reply && c.Turn != nil && strings.TrimSpace(c.Turn.Text) != "":
		tell.progress(show.OneLine(c.Turn.Text), -1)
	case c.Action != nil && row.Kind == sdk.KindEntrySet && !c.Action.IsError() && (c.Action.Phase == sdk.PhaseStarted || c.Action.State.Ended()):
		what := "calls"
		if c.Action.State.Ended() {
			what = string(c.Action.State)
		}
		tell.progress(strings.TrimSpace(fmt.Sprintf("%s %s: %s", c.Action.Tool, show.Arguments(c.Action.ExactArguments()), what)), -1)
	case row.Kind == sdk.KindNoteProgress, row.Kind == sdk.KindNoteRetry, row.Kind == sdk.KindNoteFallback:
		tell.progress(show.OneLine(show.Row(row)), -1)
	}
}

// result is what a prompt that has ended came to: what the agent said, and how it ended where that
// was not well.
func (s state) result(w work) *mcp.CallToolResult {
	l := s.loop
	answer := strings.TrimSpace(l.Answer())
	if sdk.StopExit(l.End.Stop, l.End.Status) == sdk.ExitOK {
		done := answerOf(w, "done", cmp.Or(answer, "The agent is done, and said nothing."), false)
		if result := l.Result(); result != nil {
			done.StructuredContent.(map[string]any)["result"] = result
		}
		return done
	}
	why := cmp.Or(l.End.Reason, sdk.StopText(l.End.Stop, l.End.Status))
	if text, _ := l.Text(); answer == "" {
		answer = strings.TrimSpace(text)
	}
	if answer != "" {
		answer += "\n\n"
	}
	return answerOf(w, "failed", answer+"Run "+w.alias+" did not come to its end: "+why, true)
}
