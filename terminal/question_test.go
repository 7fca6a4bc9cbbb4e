package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
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
		{"of this one", "one", answered{id: "p-one"}, ""},
		{"of an older one", "two", answered{id: "p-one"}, "h"},
		{"of an older one that failed", "two", answered{id: "p-one", err: errors.New("no")}, "h"},
		{"of this one, which was edited", "one", answered{id: "p-one", resolved: waits}, "other"},
		{"of an older one, which was edited", "two", answered{id: "p-one", resolved: waits}, "h"},
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
