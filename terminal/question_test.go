package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// TestTook: the end of an answer closes the question that it was given to, and no other.
func TestTook(t *testing.T) {
	waits := rpc.Resolved{}
	waits.Proposal = sdk.Proposal{ID: "p-one", Hash: "other", State: sdk.StateProposed}
	for _, c := range []struct {
		name string
		open string // the command that is asked about by then
		m    answered
		want string // the hash of what is asked then; empty when nothing is
	}{
		{"of this one", "one", answered{given: rpc.Resolve{ID: "p-one"}}, ""},
		{"of an older one", "two", answered{given: rpc.Resolve{ID: "p-one"}}, "h"},
		{"of an older one that failed", "two", answered{given: rpc.Resolve{ID: "p-one"}, err: errors.New("no")}, "h"},
		{"of this one, which was edited", "one", answered{given: rpc.Resolve{ID: "p-one"}, resolved: waits}, "other"},
		{"of an older one, which was edited", "two", answered{given: rpc.Resolve{ID: "p-one"}, resolved: waits}, "h"},
	} {
		p := newPerson(t, 80, 24)
		asks(p.conversation, c.open)
		p.Update(c.m)
		got := ""
		if p.open != nil {
			got = p.open.proposal.Hash
		}
		if got != c.want {
			t.Errorf("%s: %q is asked, want %q", c.name, got, c.want)
		}
	}
}

// TestAskedAnew: a proposal that somebody else changed is asked as it is now, with a line that
// says so, whether a row tells of it or an answer is refused. A reason is not lost.
func TestAskedAnew(t *testing.T) {
	refused := errors.New("another")
	for _, tt := range []struct {
		name   string
		hash   string // of the proposal as it is now
		state  sdk.State
		reason string
		byRow  bool
		asked  string // the hash of what is asked then; empty when nothing is
		says   string
	}{
		{"changed, by its row", "new", sdk.StateProposed, "", true, "new", "somebody else changed"},
		{"the same, by its row", "h", sdk.StateProposed, "", true, "h", ""},
		{"changed", "new", sdk.StateProposed, "", false, "new", "somebody else changed"},
		{"changed, with a reason", "new", sdk.StateProposed, "not so", false, "new", "somebody else changed"},
		{"another mistake", "h", sdk.StateProposed, "", false, "h", "! another"},
		{"answered elsewhere", "new", sdk.StateFailed, "", false, "", "! another"},
	} {
		p := newPerson(t, 80, 24)
		p.in.set("begun")
		q := asks(p.conversation, "ls")
		now := asked{q.action, q.proposal, nil}
		now.proposal.Hash, now.proposal.State = tt.hash, tt.state
		if tt.byRow {
			p.Update(now)
		} else {
			given := rpc.Resolve{ID: q.proposal.ID, Hash: "h", Reason: tt.reason}
			p.Update(answered{given: given, err: refused})
			p.Update(answerRefused{answered{given: given, err: refused}, now})
		}
		got := ""
		if p.open != nil {
			got = p.open.proposal.Hash
		}
		if says := p.said(); got != tt.asked || !strings.Contains(says, tt.says) || tt.says == "" && says != "" {
			t.Errorf("%s: %q is asked, and it says %q", tt.name, got, says)
		}
		if typed := p.in.area.Value(); tt.reason != "" && (typed != tt.reason || !p.open.writes || p.open.draft != "begun") || tt.reason == "" && typed != "begun" {
			t.Errorf("%s: the input is %q", tt.name, typed)
		}
	}
}

// TestQuestionSaysWhatYesDoes: a question has five lines at most, and says before that y
// shows all of it first, where not all of it stands there.
func TestQuestionSaysWhatYesDoes(t *testing.T) {
	for _, width := range []int{40, 59, 60, 80, 120} {
		for name, c := range map[string]struct {
			command string
			whole   bool
		}{
			"short": {"make clean", true}, "of many lines": {strings.Repeat("make clean\n", 9), false}, "wide": {strings.Repeat("./a/folder ", 60), false}, "of letters that look alike": {"mаke", false},
		} {
			p := newPerson(t, width, 30)
			asks(p.conversation, c.command)
			p.guard.counts = true
			text := bare(strings.Join(p.open.lines(p.conversation), "\n"))
			if n := strings.Count(text, "\n") + 1; n > mostLines || strings.Contains(text, "y once") != c.whole || strings.Contains(text, "all first") == c.whole {
				t.Errorf("%s, %d columns: %d lines\n%s", name, width, n, text)
			}
			p.open.read = true
			if text := bare(strings.Join(p.open.lines(p.conversation), "\n")); !strings.Contains(text, "y once") {
				t.Errorf("%s, %d columns, when all was shown:\n%s", name, width, text)
			}
		}
	}
}

// TestQuestionIsDrawnOnce: a frame of a question takes no longer where what would change is long.
func TestQuestionIsDrawnOnce(t *testing.T) {
	allocations := func(lines int) float64 {
		p := newPerson(t, 80, 24)
		diff := "--- a/x\n+++ b/x\n" + fmt.Sprintf("@@ -0,0 +1,%d @@\n", lines) + strings.Repeat("+a line\n", lines)
		a := &timeline.Action{}
		a.State = sdk.StateProposed
		p.Update(asked{a, sdk.Proposal{ID: "p", Hash: "h", Tool: "write_file", Diff: diff, State: sdk.StateProposed}, nil})
		return testing.AllocsPerRun(10, func() {
			p.Update(guardTick{-1})
			p.View()
		})
	}
	if short, long := allocations(10), allocations(10_000); long > 2*short {
		t.Errorf("a frame makes %v allocations, one of a long difference %v", short, long)
	}
}

// TestAnswerToARunThatWasLeft: that it was not taken is said where the person is.
func TestAnswerToARunThatWasLeft(t *testing.T) {
	p := newPerson(t, 80, 24)
	p.inRun()
	asks(p.conversation, "ls")
	entered := p.entered
	p.does("pause y")
	p.leaveRun(nil)
	p.said()
	p.Update(fromRun{entered, answered{given: rpc.Resolve{ID: "p-ls"}, err: errors.New("not taken")}})
	if said := p.said(); !strings.Contains(said, "! not taken") {
		t.Errorf("it says %q", said)
	}
}

// TestAnswerOfWhoLeaves: an answer is given also where the person leaves at once.
func TestAnswerOfWhoLeaves(t *testing.T) {
	for _, keys := range []string{"y", "n", "r x enter"} {
		p := newPerson(t, 80, 24)
		given := 0
		p.cl = &client.Client{Dial: func(context.Context) (net.Conn, error) { given++; return nil, errors.New("nowhere") }}
		asks(p.conversation, "ls")
		p.does("pause " + keys)
		if p.leave(); given == 0 {
			t.Errorf("%s: the daemon was not called", keys)
		}
	}
}

// TestCursorIsOnTheScreen: where the line of the input scrolled away, there is no cursor.
func TestCursorIsOnTheScreen(t *testing.T) {
	for width := 1; width < 45; width += 6 {
		for height := 1; height < 18; height++ {
			for _, text := range []string{"", "/", strings.Repeat("line\n", 8)} {
				p := newPerson(t, width, height)
				p.Update(pressed("a"))
				p.in.set(text)
				p.suggest()
				if v := p.View(); v.Cursor != nil && (v.Cursor.Y < 0 || v.Cursor.X < 0) {
					t.Fatalf("%d columns, %d rows, %q: the cursor is at %v", width, height, text, v.Cursor.Position)
				}
			}
		}
	}
}
