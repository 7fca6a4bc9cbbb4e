package project

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// ledger is what stands of a run and of its children, without a database.
type ledger struct {
	*workshop
	run     int64 // whose actions are recorded
	entries []sdk.Entry
	loops   []sdk.Loop
	refuse  int       // commits until they are refused; below 0 is never
	before  time.Time // all of the journal, by the clock that there was; zero is now
	gone    int64     // a run that was deleted
}

func (l *ledger) Run(_ context.Context, id int64) (sdk.Run, error) {
	if l.gone == id {
		return sdk.Run{}, sdk.Errorf(sdk.NotFound, "there is no run with the id %d", id)
	}
	aliases, delegators := map[int64]string{1: "work", 2: "one", 3: "two", 4: "below"}, map[int64]int64{2: 1, 3: 1, 4: 3}
	return sdk.Run{ID: id, Alias: aliases[id], Key: "k", Project: 1, Turns: 9, Delegator: delegators[id]}, nil
}

func (l *ledger) Project(context.Context, int64) (sdk.Project, error) {
	return sdk.Project{ID: 1, Root: l.dir}, nil
}

func (l *ledger) Entries(_ context.Context, q sdk.EntryQuery) ([]sdk.Entry, error) {
	var found []sdk.Entry
	for _, e := range l.entries {
		if q.Run != l.gone && strings.HasPrefix(e.Path, strings.TrimSuffix(q.Pattern, "**")) && e.Scope == fmt.Sprintf("run:%d", q.Run) {
			found = append(found, e)
		}
	}
	return found, nil
}

// Journal tells of the calls as if each had ended before the next was started.
func (l *ledger) Journal(_ context.Context, q sdk.JournalQuery) (rows []sdk.JournalRow, err error) {
	for i, e := range l.entries {
		if e.Scope != fmt.Sprintf("run:%d", q.Run) || !l.before.IsZero() && l.before.Before(q.Since) {
			continue
		}
		for n, phase := range []sdk.Phase{sdk.PhaseStarted, sdk.PhaseEnded} {
			text, err := json.Marshal(sdk.EntryChange{Phase: phase})
			if err != nil {
				return nil, err
			}
			rows = append(rows, sdk.JournalRow{Seq: int64(2*i + n + 1), Kind: sdk.KindEntrySet, Run: q.Run, Path: e.Path, Data: text})
		}
	}
	return rows, nil
}

func (l *ledger) Loops(context.Context, int64) ([]sdk.Loop, error) { return l.loops, nil }

func (l *ledger) StillWithChildren(ctx context.Context, run int64, _ string, do func(sdk.Run, sdk.RunEvent) error) error {
	row, _ := l.Run(ctx, run)
	return do(row, sdk.RunEvent{Run: row, Project: l.dir})
}

func (l *ledger) Commit(_ context.Context, c sdk.Change) (sdk.Receipt, error) {
	if l.refuse--; l.refuse == -1 {
		return sdk.Receipt{}, sdk.Errorf(sdk.Unavailable, "the disk is full")
	}
	for _, w := range c.Writes {
		scope := fmt.Sprintf("run:%d", c.Run)
		i := slices.IndexFunc(l.entries, func(e sdk.Entry) bool { return e.Path == w.Path && e.Scope == scope })
		if i < 0 {
			i = len(l.entries)
			l.entries = append(l.entries, sdk.Entry{Path: w.Path, Scope: scope, Turn: w.Turn, Created: l.now()})
		}
		e := &l.entries[i]
		if e.State = w.State; w.Body != nil {
			e.Body = *w.Body
		}
		if w.Attributes != nil {
			e.Attributes = w.Attributes
		}
	}
	return sdk.Receipt{}, nil
}

// action records what was done since as the changes of one call.
func (l *ledger) action(loop int64, turn int, path, attributes string) {
	var list []sdk.FileChange
	for _, s := range l.steps {
		list = append(list, s.FileChange)
	}
	l.steps = nil
	w := sdk.Write{}
	l.must((&History{Kept: l.kept}).record(&w, map[string]any{}, list))
	scope := fmt.Sprintf("run:%d", l.run)
	l.entries = append(l.entries,
		sdk.Entry{Path: path, Scope: scope, Loop: loop, Turn: turn, Phase: sdk.PhaseEnded, State: sdk.StateResolved, Created: l.now(), Attributes: json.RawMessage(attributes)},
		sdk.Entry{Path: "change" + strings.TrimPrefix(path, "log"), Scope: scope, Loop: loop, Turn: turn, State: sdk.StateResolved, Created: l.now(), Body: *w.Body, Attributes: w.Attributes})
}

// now is later with each entry.
func (l *ledger) now() time.Time { return time.Unix(int64(len(l.entries)), 0) }

func newLedger(t *testing.T) (*ledger, *History) {
	l := &ledger{workshop: opened(t, t), run: 1, loops: []sdk.Loop{{ID: 11, Sequence: 1}, {ID: 12, Sequence: 2}}, refuse: -1}
	return l, &History{Store: l, Runs: l, Kept: l.kept, May: func(string, string, bool) error { return nil }, Tools: func() []sdk.Tool {
		return []sdk.Tool{{ToolSpec: sdk.ToolSpec{Name: "bash"}, Plugin: "bash", Grants: []string{sdk.GrantSandbox, sdk.GrantProject}}}
	}}
}

func listed(list []sdk.Difference) string {
	var all []string
	for _, d := range list {
		all = append(all, d.Status+" "+d.Path)
	}
	return strings.Join(all, ", ")
}

// TestPartsOfARun: what is meant is what was asked for, with what was called for it, and nothing else.
func TestPartsOfARun(t *testing.T) {
	l, h := newLedger(t)
	l.write("a", "1")
	l.action(11, 1, "log://turn_1/bash/call", `{"tool":"bash","told":true}`)
	l.write("b", "1")
	l.action(11, 1, "log://turn_1/apply/call", `{"tool":"apply","parent":"log://turn_1/bash/call","follows":true}`)
	l.mkdir("d")
	l.write("d/c", "1")
	l.action(11, 2, "log://turn_2/bash/call", `{"tool":"bash"}`)
	l.write("d/e", "1")
	l.action(12, 3, "log://turn_3/write/e", `{"tool":"write"}`)
	for name, c := range map[string]struct {
		of     rpc.ChangesOf
		want   string
		untold int
		fails  sdk.Outcome
	}{
		"all":                     {rpc.ChangesOf{}, "added a, added b, added d, added d/c, added d/e", 1, ""},
		"a prompt":                {rpc.ChangesOf{Prompt: 1}, "added a, added b, added d, added d/c", 1, ""},
		"another":                 {rpc.ChangesOf{Prompt: 2}, "added d/e", 0, ""},
		"a turn":                  {rpc.ChangesOf{Turn: 1}, "added a, added b", 0, ""},
		"one that did nothing":    {rpc.ChangesOf{Turn: 9}, "", 0, ""},
		"an action and its child": {rpc.ChangesOf{Action: "log://turn_1/bash/call"}, "added a, added b", 0, ""},
		"the end of its path":     {rpc.ChangesOf{Action: "turn_2/bash/call"}, "added d, added d/c", 1, ""},
		"the child alone":         {rpc.ChangesOf{Action: "apply/call"}, "added b", 0, ""},
		"a path":                  {rpc.ChangesOf{Paths: []string{"d/**"}}, "added d, added d/c, added d/e", 1, ""},
		"two paths":               {rpc.ChangesOf{Paths: []string{"a", "*/e"}}, "added a, added d/e", 1, ""},
		"a path of a turn":        {rpc.ChangesOf{Paths: []string{"*"}, Turn: 2}, "added d", 1, ""},
		"no such prompt":          {rpc.ChangesOf{Prompt: 3}, "", 0, sdk.NotFound},
		"no such turn":            {rpc.ChangesOf{Turn: 10}, "", 0, sdk.NotFound},
		"no such action":          {rpc.ChangesOf{Action: "turn_7/bash/call"}, "", 0, sdk.NotFound},
		"the end of several":      {rpc.ChangesOf{Action: "bash/call"}, "", 0, sdk.Validation},
		"no glob":                 {rpc.ChangesOf{Paths: []string{"[a"}}, "", 0, sdk.Validation},
		"below one":               {rpc.ChangesOf{Turn: -1}, "", 0, sdk.Validation},
		"a part of a redo":        {rpc.ChangesOf{Turn: 1, Redo: true}, "", 0, sdk.Validation},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := h.Changes(t.Context(), 1, c.of)
			if c.fails != "" {
				if sdk.OutcomeOf(err) != c.fails {
					t.Errorf("said %v", err)
				}
				return
			}
			if text := listed(got.Differences); err != nil || text != c.want || got.Untold != c.untold {
				t.Errorf("%s, %d untold, %v", text, got.Untold, err)
			}
		})
	}
}

// TestUndoRedoOfParts: one part after the other is taken back, and made again in the contrary order, with what is in the way named.
func TestUndoRedoOfParts(t *testing.T) {
	l, h := newLedger(t)
	l.other("a", "0")
	l.write("a", "1")
	l.write("x", "x")
	l.action(11, 1, "log://turn_1/write/a", `{}`)
	l.write("a", "2")
	l.action(11, 2, "log://turn_2/write/a", `{}`)
	l.write("b", "2")
	l.action(12, 3, "log://turn_3/write/b", `{}`)
	after := l.tree()
	_, err := h.Undo(t.Context(), 1, rpc.Undo{Turn: 1})
	if sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), "a: turn 2 changed a after it (log://turn_2/write/a)") || !maps.Equal(l.tree(), after) {
		t.Errorf("said %v", err)
	}
	took := func(p rpc.Undo, want string) {
		t.Helper()
		u, err := h.Undo(t.Context(), 1, p)
		if got := listed(u.Taken); err != nil || got != want {
			t.Errorf("took %s, %v, want %s", got, err, want)
		}
	}
	took(rpc.Undo{Turn: 1, Partial: true}, "added x")
	took(rpc.Undo{Turn: 2}, "changed a")
	if b, _ := os.ReadFile(l.at("a")); string(b) != "1" {
		t.Errorf("a is %q", b)
	}
	took(rpc.Undo{Turn: 2}, "")
	took(rpc.Undo{Turn: 1}, "changed a")
	again := func(want string) {
		t.Helper()
		c, err := h.Changes(t.Context(), 1, rpc.ChangesOf{Redo: true})
		u, err2 := h.Redo(t.Context(), 1, false)
		if got := listed(u.Taken); err != nil || err2 != nil || got != want || listed(c.Differences) != want {
			t.Errorf("made %s again, said %s, %v, %v, want %s", got, listed(c.Differences), err, err2, want)
		}
	}
	again("changed a")
	again("changed a")
	again("added x")
	again("")
	if got := l.tree(); !maps.Equal(got, after) {
		t.Errorf("it is %v and was %v", got, after)
	}
	took(rpc.Undo{}, "changed a, added b, added x")
	l.other("b", "mine")
	if _, err := h.Redo(t.Context(), 1, false); sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), "b: something else is there now") {
		t.Errorf("said %v", err)
	}
	u, err := h.Redo(t.Context(), 1, true)
	if err != nil || listed(u.Taken) != "changed a, added x" || listed(u.Left) != "added b" {
		t.Errorf("%+v, %v", u, err)
	}
	if b, _ := os.ReadFile(l.at("b")); string(b) != "mine" {
		t.Errorf("b is %q", b)
	}
	l.must(os.Remove(l.at("b")))
	again("added b")
}

// TestLongLists: a list of many changes lies in the store, of calls as of a taking back; one that is
// kept no more counts as a call of which nobody knows what it did.
func TestLongLists(t *testing.T) {
	l, h := newLedger(t)
	for i := range sdk.MostChanges + 5 {
		l.write(fmt.Sprintf("f%d", i), "x")
	}
	l.action(11, 1, "log://turn_1/bash/call", `{"tool":"bash","told":true}`)
	after := l.tree()
	u, err := h.Undo(t.Context(), 1, rpc.Undo{})
	if err != nil || len(u.Taken) != sdk.MostChanges+5 || len(l.tree()) != 0 {
		t.Fatalf("took %d, %v", len(u.Taken), err)
	}
	for _, e := range l.entries {
		if len(e.Body) > 10 {
			t.Errorf("%s has a body of %d bytes", e.Path, len(e.Body))
		}
	}
	if u, err = h.Redo(t.Context(), 1, false); err != nil || len(u.Taken) != sdk.MostChanges+5 || !maps.Equal(l.tree(), after) {
		t.Fatalf("made %d again, %v", len(u.Taken), err)
	}
	if _, err := l.kept.Prune(1, 0); err != nil {
		t.Fatal(err)
	}
	c, err := h.Changes(t.Context(), 1, rpc.ChangesOf{})
	if err != nil || len(c.Differences) != 0 || c.Untold != 3 {
		t.Errorf("%+v, %v", c, err)
	}
}

// TestUndoThatCannotBeRecorded: nothing is done that is not on record.
func TestUndoThatCannotBeRecorded(t *testing.T) {
	l, h := newLedger(t)
	l.write("a", "1")
	l.action(11, 1, "log://turn_1/write/a", `{}`)
	after := l.tree()
	l.refuse = 0
	if _, err := h.Undo(t.Context(), 1, rpc.Undo{}); sdk.OutcomeOf(err) != sdk.Unavailable || !maps.Equal(l.tree(), after) {
		t.Errorf("said %v", err)
	}
	if u, err := h.Undo(t.Context(), 1, rpc.Undo{}); err != nil || len(u.Taken) != 1 {
		t.Errorf("%+v, %v", u, err)
	}
}
