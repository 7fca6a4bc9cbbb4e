package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// turnOf opens and closes a turn in which the writes are made.
func (f *fixture) turnOf(run, loop int64, ws ...sdk.Write) {
	f.t.Helper()
	turn := sdk.Turn{Loop: loop}
	if _, err := f.Commit(f.t.Context(), sdk.Change{Run: run, OpenTurn: &turn}); err != nil {
		f.t.Fatal(err)
	}
	for i := range ws {
		ws[i].Loop, ws[i].Turn = loop, turn.Sequence
	}
	if _, err := f.Commit(f.t.Context(), sdk.Change{Run: run, Writes: ws, CloseTurn: &turn}); err != nil {
		f.t.Fatal(err)
	}
}

func answer(turn int) sdk.Write {
	text := fmt.Sprintf("answer %d", turn)
	return sdk.Write{Path: fmt.Sprintf("assistant://%d", turn), Body: &text, Writer: sdk.WriterSystem}
}

func paths(t *testing.T, f *fixture, run int64) string {
	t.Helper()
	all, err := f.Entries(t.Context(), run, "")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range all {
		names = append(names, e.Path)
	}
	return strings.Join(names, " ")
}

// threePrompts is a run of three loops and four turns. known://plan changes in
// turn 3, known://old is archived in turn 4, and a fourth prompt waits.
func threePrompts(t *testing.T) *fixture {
	f := newFixture(t)
	system := "be kind"
	one := f.enqueue(f.run.ID, "first")
	f.claim(f.run.ID)
	f.turnOf(f.run.ID, one.ID, answer(1), known("known://plan", "v1"), known("known://old", "o"))
	f.turnOf(f.run.ID, one.ID, answer(2), sdk.Write{Path: "instructions://system", Body: &system, Writer: sdk.WriterSystem})
	two := f.enqueue(f.run.ID, "second")
	if err := f.end(f.run.ID, one.ID, 200); err != nil {
		t.Fatal(err)
	}
	f.claim(f.run.ID)
	other := "be brief"
	f.turnOf(f.run.ID, two.ID, answer(3), known("known://plan", "v2"), sdk.Write{Path: "instructions://system", Body: &other, Writer: sdk.WriterSystem})
	if err := f.end(f.run.ID, two.ID, 200); err != nil {
		t.Fatal(err)
	}
	three := f.enqueue(f.run.ID, "third")
	f.claim(f.run.ID)
	f.turnOf(f.run.ID, three.ID, answer(4), sdk.Write{Path: "known://old", Writer: sdk.WriterModel, Visibility: sdk.Archived})
	f.enqueue(f.run.ID, "fourth")
	return f
}

func TestForkAfterATurn(t *testing.T) {
	f := threePrompts(t)
	child, err := f.CreateRun(t.Context(), sdk.Run{Project: f.run.Project, Parent: f.run.ID, Turns: 3})
	if err != nil {
		t.Fatal(err)
	}
	got := paths(t, f, child.ID)
	if want := "prompt://1 assistant://1 known://plan known://old assistant://2 instructions://system prompt://2 assistant://3"; got != want || child.Turns != 3 {
		t.Errorf("the fork sees %s after turn %d, want %s", got, child.Turns, want)
	}
	if e, err := f.Entry(t.Context(), child.ID, "known://old"); err != nil || e.Visibility != sdk.Visible || e.Turn != 1 {
		t.Errorf("what was archived later is %+v, %v", e, err)
	}
	if next := f.enqueue(child.ID, "another third"); next.Sequence != 3 {
		t.Errorf("the fork's next prompt is number %d", next.Sequence)
	}
	for name, c := range map[string]struct {
		turn int
		want sdk.Outcome
		says string
	}{
		"changed since":  {2, sdk.Conflict, "known://plan changed since"},
		"none yet":       {5, sdk.NotFound, "has no turn 5; it has 4"},
		"no such number": {-1, sdk.NotFound, "no turn -1"},
	} {
		_, err := f.CreateRun(t.Context(), sdk.Run{Project: f.run.Project, Parent: f.run.ID, Turns: c.turn})
		if sdk.OutcomeOf(err) != c.want || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	f.verify()
}

func TestForkOfAForkAndOfAnOpenTurn(t *testing.T) {
	f := threePrompts(t)
	child := f.newRun(sdk.Run{Project: f.run.Project, Parent: f.run.ID, Turns: 3})
	if _, err := f.CreateRun(t.Context(), sdk.Run{Project: f.run.Project, Parent: child.ID, Turns: 2}); sdk.OutcomeOf(err) != sdk.NotFound || !strings.Contains(err.Error(), "fork the run that it comes from") {
		t.Errorf("%v", err)
	}
	l := f.enqueue(child.ID, "mine")
	f.claim(child.ID)
	f.turnOf(child.ID, l.ID, answer(4), known("known://mine", "x"))
	grandchild := f.newRun(sdk.Run{Project: f.run.Project, Parent: child.ID, Turns: 3})
	if a, b := paths(t, f, grandchild.ID), "assistant://3"; !strings.HasSuffix(a, b) {
		t.Errorf("the fork at its parent's begin sees %s", a)
	}
	if _, err := f.Commit(t.Context(), sdk.Change{Run: child.ID, OpenTurn: &sdk.Turn{Loop: l.ID}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.CreateRun(t.Context(), sdk.Run{Project: f.run.Project, Parent: child.ID, Turns: 5}); sdk.OutcomeOf(err) != sdk.Conflict || !strings.Contains(err.Error(), "still at turn 5") {
		t.Errorf("%v", err)
	}
	if late := f.newRun(sdk.Run{Project: f.run.Project, Parent: child.ID, Turns: 4}); !strings.HasSuffix(paths(t, f, late.ID), "prompt://3 assistant://4 known://mine") {
		t.Errorf("beside an open turn: %s", paths(t, f, late.ID))
	}
	f.verify()
}

// A fork after a turn sees exactly what the run saw then, or is refused; it is
// refused only when something of that time is gone.
func TestForkAfterATurnLeaksNothing(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(rt *rapid.T) {
		folder, err := os.MkdirTemp(dir, "")
		if err != nil {
			rt.Fatal(err)
		}
		s, err := Open(t.Context(), filepath.Join(folder, "bothy.db"), Options{})
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = s.Close() }()
		p, err := s.OpenProject(t.Context(), "/p")
		if err != nil {
			rt.Fatal(err)
		}
		run, err := s.CreateRun(t.Context(), sdk.Run{Project: p.ID})
		if err != nil {
			rt.Fatal(err)
		}
		l, _, err := s.Enqueue(t.Context(), sdk.Loop{Run: run.ID, Mode: sdk.ModeAct, Prompt: "p"})
		if err != nil {
			rt.Fatal(err)
		}
		if _, _, err := s.ClaimLoop(t.Context(), run.ID); err != nil {
			rt.Fatal(err)
		}
		seen := []map[string]string{look(rt, s, run.ID)}
		gone := []map[string]bool{{}} // by turn: what has changed since
		turns := rapid.IntRange(1, 5).Draw(rt, "turns")
		for range turns {
			turn := sdk.Turn{Loop: l.ID}
			c := sdk.Change{Run: run.ID, OpenTurn: &turn}
			for range rapid.IntRange(0, 4).Draw(rt, "writes") {
				w := sdk.Write{Path: "known://" + rapid.StringMatching("[ab]").Draw(rt, "path"), Writer: sdk.WriterModel}
				switch rapid.IntRange(0, 4).Draw(rt, "kind") {
				case 0:
					w.Visibility = sdk.Archived
				case 1:
					w.Attributes = object(fmt.Sprintf(`{"n":%d}`, rapid.IntRange(0, 1).Draw(rt, "n")))
				case 2:
					w.Remove = true
				default:
					w.Body = body(rapid.StringMatching("[xy]").Draw(rt, "body"))
				}
				one := sdk.Change{Run: run.ID, Writes: []sdk.Write{w}}
				if c.OpenTurn != nil {
					one.OpenTurn, c.OpenTurn = c.OpenTurn, nil
				}
				one.Writes[0].Turn = len(seen)
				if _, err := s.Commit(t.Context(), one); err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
					rt.Fatal(err)
				} else if err != nil {
					c.OpenTurn = one.OpenTurn // a removal of nothing
					continue
				}
				for i := range gone {
					if w.Visibility == "" {
						gone[i][w.Path] = true
					}
				}
			}
			if c.OpenTurn != nil {
				if _, err := s.Commit(t.Context(), c); err != nil {
					rt.Fatal(err)
				}
			}
			closing := sdk.Turn{Sequence: len(seen)}
			if _, err := s.Commit(t.Context(), sdk.Change{Run: run.ID, CloseTurn: &closing}); err != nil {
				rt.Fatal(err)
			}
			seen, gone = append(seen, look(rt, s, run.ID)), append(gone, map[string]bool{})
		}
		at := rapid.IntRange(1, turns).Draw(rt, "fork after")
		child, err := s.CreateRun(t.Context(), sdk.Run{Project: p.ID, Parent: run.ID, Turns: at})
		if err != nil {
			if sdk.OutcomeOf(err) != sdk.Conflict || !anyOf(gone[at], seen[at]) {
				rt.Fatalf("after turn %d: %v, though all of %v is there", at, err, seen[at])
			}
			return
		}
		if got := look(rt, s, child.ID); fmt.Sprint(got) != fmt.Sprint(seen[at]) {
			rt.Fatalf("after turn %d the fork sees %v and the run saw %v", at, got, seen[at])
		}
		if err := s.Verify(t.Context(), 0); err != nil {
			rt.Fatal(err)
		}
	})
}

// look is what a run sees: all of each entry that a fork shares.
func look(rt *rapid.T, s *Store, run int64) map[string]string {
	all, err := s.Entries(rt.Context(), run, "")
	if err != nil {
		rt.Fatal(err)
	}
	got := map[string]string{}
	for _, e := range all {
		got[e.Path] = fmt.Sprintf("%s %s %s %s %d", e.Body, e.Attributes, e.Visibility, e.State, e.Turn)
	}
	return got
}

func anyOf(gone map[string]bool, seen map[string]string) bool {
	for path := range gone {
		if _, ok := seen[path]; ok {
			return true
		}
	}
	return false
}
