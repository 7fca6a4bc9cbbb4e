package main

import (
	"fmt"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestQueue: a prompt waits once, until a row tells that it was begun or has ended, in
// whatever order the rows and the answer come.
func TestQueue(t *testing.T) {
	var (
		waits   = queuedRow(2, "")
		started = startedRow(2)
		ended   = endedRow(2, "done", 200)
		taken   = endedRow(2, "taken", 499)
		answer  = delivered{0, accepted{"p", rpc.Accepted{Run: "r", ID: 1, Loop: 2, Sequence: 2, Ahead: 1}, nil}}
		caught  = caughtUp{}
	)
	for _, tt := range []struct {
		name   string
		behind bool
		msgs   []tea.Msg
		waits  int
	}{
		{"the answer first", false, []tea.Msg{answer, waits}, 1},
		{"the row first", false, []tea.Msg{waits, answer}, 1},
		{"it begins", false, []tea.Msg{answer, waits, started}, 0},
		{"it was begun", false, []tea.Msg{waits, started, answer}, 0},
		{"it has ended", false, []tea.Msg{waits, started, ended, answer}, 0},
		{"it was taken back", false, []tea.Msg{waits, taken, answer}, 0},
		{"it waits when all is read", true, []tea.Msg{waits, answer, caught}, 1},
		{"it begins before all is read", true, []tea.Msg{answer, waits, started, caught}, 0},
		{"it ends before all is read", true, []tea.Msg{answer, waits, started, ended, caught}, 0},
		{"it is taken back before all is read", true, []tea.Msg{answer, waits, taken, caught}, 0},
	} {
		c := alone(t, 80, 24)
		c.inRun()
		c.behind, c.outbox = tt.behind, []outgoing{{shown: "p"}}
		c.takes(tt.msgs...)
		if len(c.queue) != tt.waits {
			t.Errorf("%s: there wait %v", tt.name, c.queue)
		}
	}
}

// TestReplyComesAgain: what a turn said is printed once, also where its row comes again behind
// other prompts, or was read before; another answer of that turn is printed.
func TestReplyComesAgain(t *testing.T) {
	for _, behind := range []bool{false, true} {
		c := alone(t, 80, 24)
		c.inRun()
		c.behind = behind
		for n := 1; n <= lastShown+1; n++ {
			loop := int64(n)
			c.takes(startedRow(loop), openedRow(loop, n), replyRow(loop, n, fmt.Sprint("answer ", n)), endedRow(loop, "done", 200))
		}
		c.takes(caughtUp{})
		if got := c.said(); strings.Count(got, "answer 4") != 1 {
			t.Errorf("behind %v: it begins with\n%s", behind, got)
		}
		for n := 1; n <= lastShown+1; n++ {
			if c.takes(replyRow(int64(n), n, fmt.Sprint("answer ", n))); c.said() != "" {
				t.Errorf("behind %v: answer %d is printed a second time", behind, n)
			}
		}
		if c.takes(replyRow(4, 4, "another")); !strings.Contains(c.said(), "another") {
			t.Errorf("behind %v: another answer is not printed", behind)
		}
	}
}

// TestCatchUp: of prompts that were read nothing is printed a second time where a row of them
// comes again, whether they are among the last ones or not.
func TestCatchUp(t *testing.T) {
	c := alone(t, 80, 24)
	c.inRun()
	c.behind = true
	result := func(n int) tea.Msg { return resultRow(int64(n), n, fmt.Sprint("result ", n)) }
	for n := 1; n <= lastShown+2; n++ {
		loop := int64(n)
		c.takes(startedRow(loop), openedRow(loop, n), result(n), endedRow(loop, "done", 200))
	}
	c.takes(caughtUp{})
	if got := c.said(); strings.Contains(got, "result 2") || !strings.Contains(got, "result 3") {
		t.Errorf("it begins with\n%s", got)
	}
	for n := 1; n <= lastShown+2; n++ {
		if !c.shown[c.line.Loops[n-1].End] {
			t.Errorf("the end of prompt %d is still to be printed", n)
		}
		c.takes(result(n))
		if got := c.said(); got != "" {
			t.Errorf("a row of prompt %d prints %q", n, got)
		}
	}
}
