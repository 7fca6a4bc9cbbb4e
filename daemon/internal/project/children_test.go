package project

import (
	"maps"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// delegating is a run whose first prompt wrote a, delegated twice, to runs that took turns and one of which
// delegated in its turn, and wrote b behind that; its second prompt wrote c.
func delegating(t *testing.T) (*ledger, *History) {
	l, h := newLedger(t)
	l.write("a", "parent")
	l.action(11, 1, "log://turn_1/write/a", `{}`)
	l.action(11, 2, "log://turn_2/delegate/one", `{"child":{"run":2,"alias":"one","loop":21}}`)
	l.action(11, 2, "log://turn_2/delegate/two", `{"child":{"run":3,"alias":"two","loop":31}}`)
	in := func(run int64, do func()) { l.run = run; do(); l.run = 1 }
	in(2, func() {
		l.write("x", "one")
		l.action(21, 1, "log://turn_1/write/x", `{}`)
	})
	in(3, func() {
		l.write("y", "two")
		l.action(31, 1, "log://turn_1/write/y", `{}`)
		l.action(31, 2, "log://turn_2/bash/call", `{"tool":"bash"}`)
		l.action(31, 3, "log://turn_3/delegate/below", `{"child":{"run":4,"alias":"below","loop":41}}`)
	})
	in(4, func() {
		l.write("z", "below")
		l.action(41, 1, "log://turn_1/write/z", `{}`)
	})
	in(2, func() {
		l.write("x", "one again")
		l.action(21, 2, "log://turn_2/write/x", `{}`)
	})
	l.write("b", "parent")
	l.action(11, 3, "log://turn_3/write/b", `{}`)
	l.write("c", "parent")
	l.action(12, 4, "log://turn_4/write/c", `{}`)
	return l, h
}

// What a child changed for a delegation is what that call changed.
func TestChangesOfChildren(t *testing.T) {
	for name, c := range map[string]struct {
		run    int64
		of     rpc.ChangesOf
		want   string
		untold int
	}{
		"all":                  {1, rpc.ChangesOf{}, "added a, added b, added c, added x, added y, added z", 1},
		"a prompt":             {1, rpc.ChangesOf{Prompt: 1}, "added a, added b, added x, added y, added z", 1},
		"another":              {1, rpc.ChangesOf{Prompt: 2}, "added c", 0},
		"the turn":             {1, rpc.ChangesOf{Turn: 2}, "added x, added y, added z", 1},
		"one that they had":    {1, rpc.ChangesOf{Turn: 1}, "added a", 0},
		"a call":               {1, rpc.ChangesOf{Action: "delegate/one"}, "added x", 0},
		"a call of two levels": {1, rpc.ChangesOf{Action: "delegate/two"}, "added y, added z", 1},
		"a path":               {1, rpc.ChangesOf{Paths: []string{"z"}}, "added z", 1},
		"a child":              {3, rpc.ChangesOf{}, "added y, added z", 1},
		"a call of a child":    {3, rpc.ChangesOf{Action: "delegate/below"}, "added z", 0},
		"below":                {4, rpc.ChangesOf{}, "added z", 0},
	} {
		t.Run(name, func(t *testing.T) {
			_, h := delegating(t)
			got, err := h.Changes(t.Context(), c.run, c.of)
			if text := listed(got.Differences); err != nil || text != c.want || got.Untold != c.untold {
				t.Errorf("%s, %d untold, %v", text, got.Untold, err)
			}
		})
	}
	l, h := delegating(t)
	if _, err := h.Changes(t.Context(), 1, rpc.ChangesOf{Action: "write/z"}); sdk.OutcomeOf(err) != sdk.NotFound {
		t.Errorf("a child's call is one of the parent's: %v", err)
	}
	l.gone = 2 // a person deleted it
	got, err := h.Changes(t.Context(), 1, rpc.ChangesOf{})
	if text := listed(got.Differences); err != nil || text != "added a, added b, added c, added y, added z" || got.Untold != 2 {
		t.Errorf("without a child: %s, %d untold, %v", text, got.Untold, err)
	}
	l.gone = 0
	touched, err := h.Touched(t.Context(), 1)
	if err != nil || len(touched[11].Files) != 5 || touched[11].Untold != 1 || len(touched[12].Files) != 1 {
		t.Errorf("%+v, %v", touched, err)
	}
}

// A delegation is taken back with what its child did, and made again; what the child has done since is its own, and in
// the way.
func TestUndoOfADelegation(t *testing.T) {
	l, h := delegating(t)
	after := l.tree()
	took := func(run int64, p rpc.Undo, want string) {
		t.Helper()
		u, err := h.Undo(t.Context(), run, p)
		if got := listed(u.Taken); err != nil || got != want {
			t.Errorf("took %s, %v, want %s", got, err, want)
		}
	}
	took(1, rpc.Undo{Action: "delegate/two"}, "added y, added z")
	took(1, rpc.Undo{Turn: 2}, "added x")
	took(1, rpc.Undo{Turn: 2}, "")
	took(3, rpc.Undo{}, "")
	for range 2 {
		if _, err := h.Redo(t.Context(), 1, false); err != nil {
			t.Fatal(err)
		}
	}
	if got := l.tree(); !maps.Equal(got, after) {
		t.Errorf("made again it is %v and was %v", got, after)
	}
	took(4, rpc.Undo{}, "added z")
	took(1, rpc.Undo{Action: "delegate/two"}, "added y")

	l.run = 2
	l.write("x", "by a later prompt")
	l.action(22, 3, "log://turn_3/write/x", `{}`)
	if _, err := h.Undo(t.Context(), 1, rpc.Undo{Prompt: 1}); sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), "x: turn 3 changed x after it (one log://turn_3/write/x)") {
		t.Errorf("said %v", err)
	}
	took(2, rpc.Undo{Turn: 3}, "changed x")
	took(1, rpc.Undo{}, "added a, added b, added c, added x")
}

// What two runs wrote to one file is taken back in the order in which they did.
func TestUndoOfTwoRunsThatWroteOneFile(t *testing.T) {
	l, h := newLedger(t)
	l.other("a", "0")
	l.write("a", "1")
	l.action(11, 1, "log://turn_1/write/a", `{}`)
	l.action(11, 2, "log://turn_2/delegate/one", `{"child":{"run":2,"alias":"one","loop":21}}`)
	l.run = 2
	l.write("a", "2")
	l.action(21, 1, "log://turn_1/write/a", `{}`)
	l.run = 1
	l.write("a", "3")
	l.action(11, 3, "log://turn_3/write/a", `{}`)
	_, err := h.Undo(t.Context(), 1, rpc.Undo{Turn: 2})
	if sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), "a: turn 3 changed a after it (log://turn_3/write/a)") {
		t.Errorf("said %v", err)
	}
	_, err = h.Undo(t.Context(), 1, rpc.Undo{Turn: 1})
	if sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), "a: turn 2 changed a after it (one log://turn_1/write/a)") {
		t.Errorf("said %v", err)
	}
	for _, turn := range []int{3, 2, 1} {
		if _, err := h.Undo(t.Context(), 1, rpc.Undo{Turn: turn}); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := h.Changes(t.Context(), 1, rpc.ChangesOf{}); err != nil || len(c.Differences) > 0 {
		t.Errorf("left %s, %v", listed(c.Differences), err)
	}
}
