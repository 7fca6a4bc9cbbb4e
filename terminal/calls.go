package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/timeline"
)

const (
	// liveLines is how much of a command's output stands below while it works.
	liveLines = 6
	// mostStreamed is how much of it is kept then, in bytes: its result has what is to be
	// read of it.
	mostStreamed = 16 << 10
)

// calls are those that are at work now.
type calls struct {
	at      []call
	printed *timeline.Action // the one that printed last
}

// call is one that is at work.
type call struct {
	action *timeline.Action
	began  time.Time
}

// take takes note of a row of the journal.
func (cs *calls) take(row sdk.JournalRow, a *timeline.Action) {
	if a == nil || a.IsError() {
		return
	}
	at := slices.IndexFunc(cs.at, func(c call) bool { return c.action == a })
	switch works := a.Phase == sdk.PhaseStarted && !a.State.Ended(); {
	case works && at < 0 && !a.Person: // which the input tells of
		cs.at = append(cs.at, call{a, row.Time})
	case !works && at >= 0:
		cs.at = slices.Delete(cs.at, at, at+1)
	}
	if row.Kind == sdk.KindEntryChunk {
		cs.printed = a
	}
	if a.State.Ended() {
		a.Streamed = nil
	}
	for channel, text := range a.Streamed {
		if len(text) > 4*mostStreamed {
			a.Streamed[channel] = strings.Clone(text[len(text)-mostStreamed:])
		}
	}
}

// doing says what works, and for how long where it is one.
func (cs *calls) doing() string {
	if n := len(cs.at); n > 1 {
		return fmt.Sprintf("%d calls", n)
	}
	c := cs.at[0]
	return show.Line(c.action.Tool) + " " + show.Going(time.Since(c.began))
}

// lines are the calls, each in a line, and the end of what was printed last.
func (cs *calls) lines(c *conversation) (all []string) {
	for _, at := range cs.at {
		all = append(all, strings.Split(c.callLine(at.action), "\n")...)
		if child := at.action.Child; child != nil {
			all = append(all, c.p.dim.Render("  │ "+show.Cut(show.Work(*child, c.tree.Delegated(at.action)), c.columns()-4)))
		}
		if at.action != cs.printed {
			continue
		}
		all = append(all, c.lastPrinted(at.action)...)
	}
	return all
}

// lastPrinted is the end of what a call printed, in lines. It is drawn with each frame: of
// all that is kept only so much is looked at.
func (c *conversation) lastPrinted(a *timeline.Action) (all []string) {
	text := a.Streamed[1] + a.Streamed[2]
	text = strings.TrimRight(show.Output(strings.ToValidUTF8(text[max(0, len(text)-mostStreamed):], "")), "\n")
	if strings.TrimSpace(text) == "" {
		return nil
	}
	lines := strings.Split(text, "\n")
	for _, line := range lines[max(0, len(lines)-liveLines):] {
		all = append(all, c.p.dim.Render("  │ "+show.Cut(line, c.columns()-4)))
	}
	return all
}
