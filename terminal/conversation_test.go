package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// rowOf is a row of run 1.
func rowOf(kind string, loop int64, turn int, path, data, body string) sdk.JournalRow {
	row := sdk.JournalRow{Kind: kind, Path: path, Data: json.RawMessage(data), Loop: loop, Turn: turn, Run: 1, Time: time.Now()}
	if body != "" {
		row.Body = &body
	}
	return row
}

// TestQueue: a prompt waits once, until a row tells that it was begun or has ended, in
// whatever order the rows and the answer come.
func TestQueue(t *testing.T) {
	var (
		queuedRow = rowCame{rowOf(sdk.KindLoopQueued, 2, 0, "", "{}", "")}
		started   = rowCame{rowOf(sdk.KindLoopStarted, 2, 0, "", "{}", "")}
		ended     = rowCame{rowOf(sdk.KindLoopEnded, 2, 0, "", `{"stop":"done","status":200}`, "")}
		taken     = rowCame{rowOf(sdk.KindLoopEnded, 2, 0, "", `{"stop":"taken","status":499}`, "")}
		answer    = delivered{0, accepted{"p", rpc.Accepted{Run: "r", ID: 1, Loop: 2, Sequence: 2, Ahead: 1}}}
		caught    = caughtUp{}
	)
	for _, tt := range []struct {
		name   string
		behind bool
		msgs   []tea.Msg
		waits  int
	}{
		{"the answer first", false, []tea.Msg{answer, queuedRow}, 1},
		{"the row first", false, []tea.Msg{queuedRow, answer}, 1},
		{"it begins", false, []tea.Msg{answer, queuedRow, started}, 0},
		{"it was begun", false, []tea.Msg{queuedRow, started, answer}, 0},
		{"it has ended", false, []tea.Msg{queuedRow, started, ended, answer}, 0},
		{"it was taken back", false, []tea.Msg{queuedRow, taken, answer}, 0},
		{"it waits when all is read", true, []tea.Msg{queuedRow, answer, caught}, 1},
		{"it begins before all is read", true, []tea.Msg{answer, queuedRow, started, caught}, 0},
		{"it ends before all is read", true, []tea.Msg{answer, queuedRow, started, ended, caught}, 0},
		{"it is taken back before all is read", true, []tea.Msg{answer, queuedRow, taken, caught}, 0},
	} {
		c := alone(t, 80, 24)
		c.following, c.run, c.runID, c.behind = true, "r", 1, tt.behind
		c.others.watching = true
		c.outbox = []outgoing{{shown: "p"}}
		for _, m := range tt.msgs {
			c.Update(m)
		}
		if len(c.queue) != tt.waits {
			t.Errorf("%s: there wait %v", tt.name, c.queue)
		}
	}
}

// TestReplyComesAgain: what a turn said is printed once, also where its row comes again behind
// other prompts, or was read before; another answer of that turn is printed.
func TestReplyComesAgain(t *testing.T) {
	said := func(loop int64, turn int, text string) tea.Msg {
		return rowCame{rowOf(sdk.KindEntrySet, loop, turn, fmt.Sprint("assistant://", turn), `{"state":"resolved"}`, text)}
	}
	for _, behind := range []bool{false, true} {
		c := alone(t, 80, 24)
		c.runID, c.run, c.behind = 1, "r", behind
		for n := 1; n <= lastShown+1; n++ {
			c.Update(rowCame{rowOf(sdk.KindLoopStarted, int64(n), 0, "", "{}", "")})
			c.Update(rowCame{rowOf(sdk.KindTurnOpened, int64(n), n, "", "{}", "")})
			c.Update(said(int64(n), n, fmt.Sprint("answer ", n)))
			c.Update(rowCame{rowOf(sdk.KindLoopEnded, int64(n), 0, "", `{"stop":"done","status":200}`, "")})
		}
		c.Update(caughtUp{})
		if got := c.said(); strings.Count(got, "answer 4") != 1 {
			t.Errorf("behind %v: it begins with\n%s", behind, got)
		}
		for n := 1; n <= lastShown+1; n++ {
			if c.Update(said(int64(n), n, fmt.Sprint("answer ", n))); c.said() != "" {
				t.Errorf("behind %v: answer %d is printed a second time", behind, n)
			}
		}
		if c.Update(said(4, 4, "another")); !strings.Contains(c.said(), "another") {
			t.Errorf("behind %v: another answer is not printed", behind)
		}
	}
}

// TestCatchUp: of prompts that were read nothing is printed a second time where a row of them
// comes again, whether they are among the last ones or not.
func TestCatchUp(t *testing.T) {
	c := alone(t, 80, 24)
	c.runID, c.run, c.behind = 1, "r", true
	result := func(n int) rowCame {
		return rowCame{rowOf(sdk.KindEntrySet, int64(n), n, fmt.Sprintf("log://turn_%d/bash/ls", n), `{"state":"resolved"}`, fmt.Sprint("result ", n))}
	}
	for n := 1; n <= lastShown+2; n++ {
		c.Update(rowCame{rowOf(sdk.KindLoopStarted, int64(n), 0, "", "{}", "")})
		c.Update(rowCame{rowOf(sdk.KindTurnOpened, int64(n), n, "", "{}", "")})
		c.Update(result(n))
		c.Update(rowCame{rowOf(sdk.KindLoopEnded, int64(n), 0, "", `{"stop":"done","status":200}`, "")})
	}
	c.Update(caughtUp{})
	if got := c.said(); strings.Contains(got, "result 2") || !strings.Contains(got, "result 3") {
		t.Errorf("it begins with\n%s", got)
	}
	for n := 1; n <= lastShown+2; n++ {
		if !c.shown[c.line.Loops[n-1].End] {
			t.Errorf("the end of prompt %d is still to be printed", n)
		}
		c.Update(result(n))
		if got := c.said(); got != "" {
			t.Errorf("a row of prompt %d prints %q", n, got)
		}
	}
}
