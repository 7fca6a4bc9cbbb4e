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
	all, err := f.Entries(t.Context(), sdk.EntryQuery{Run: run})
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

// TestForkOfAForkWhoseParentGoesOn holds that what a fork keeps, where its parent changes it, is what it had at the end of its turns,
// for forks of it too.
func TestForkOfAForkWhoseParentGoesOn(t *testing.T) {
	f := threePrompts(t)
	child := f.newRun(sdk.Run{Project: f.run.Project, Parent: f.run.ID, Turns: 4})
	l := f.enqueue(child.ID, "mine")
	f.claim(child.ID)
	f.turnOf(child.ID, l.ID, answer(5), known("known://mine", "x"))
	if err := f.end(child.ID, l.ID, 200); err != nil {
		t.Fatal(err)
	}
	for _, w := range []sdk.Write{known("known://plan", "v3"), {Path: "known://old", Remove: true, Writer: sdk.WriterModel}} {
		if _, err := f.Commit(t.Context(), sdk.Change{Run: f.run.ID, Writes: []sdk.Write{w}}); err != nil {
			t.Fatal(err)
		}
	}
	want := paths(t, f, child.ID)
	for _, turn := range []int{0, 5} {
		grandchild := f.newRun(sdk.Run{Project: f.run.Project, Parent: child.ID, Turns: turn})
		if got := paths(t, f, grandchild.ID); got != want {
			t.Errorf("after turn %d it sees %s, and its parent %s", turn, got, want)
		}
		if e, err := f.Entry(t.Context(), grandchild.ID, "known://plan"); err != nil || e.Body != "v2" {
			t.Errorf("after turn %d: %+v, %v", turn, e, err)
		}
	}
	if _, err := f.Commit(t.Context(), sdk.Change{Run: child.ID, Writes: []sdk.Write{known("known://plan", "other")}}); err != nil {
		t.Fatal(err)
	}
	if _, err := f.CreateRun(t.Context(), sdk.Run{Project: f.run.Project, Parent: child.ID, Turns: 5}); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("what changed since is had again: %v", err)
	}
	f.verify()
}

// A fork after a turn sees exactly what the run saw then, or is refused; it is
// refused only when something of that time is gone.
func TestForkAfterATurnLeaksNothing(t *testing.T) {
	dir := memoryDir(t)
	rapid.Check(t, func(rt *rapid.T) {
		h := newRetold(rt, dir)
		defer func() { _ = h.Close() }()
		turns := rapid.IntRange(1, 5).Draw(rt, "turns")
		for range turns {
			h.aTurn()
		}
		at := rapid.IntRange(1, turns).Draw(rt, "fork after")
		child, err := h.CreateRun(rt.Context(), sdk.Run{Project: h.run.Project, Parent: h.run.ID, Turns: at})
		if err != nil {
			if sdk.OutcomeOf(err) != sdk.Conflict || !anyOf(h.gone[at], h.seen[at]) {
				rt.Fatalf("after turn %d: %v, though all of %v is there", at, err, h.seen[at])
			}
			return
		}
		if got := look(rt, h.Store, child.ID); fmt.Sprint(got) != fmt.Sprint(h.seen[at]) {
			rt.Fatalf("after turn %d the fork sees %v and the run saw %v", at, got, h.seen[at])
		}
		if err := h.Verify(rt.Context(), 0); err != nil {
			rt.Fatal(err)
		}
	})
}

// retold is a run at work, with what it saw after each of its turns and what
// was overwritten since.
type retold struct {
	*Store
	rt   *rapid.T
	run  sdk.Run
	loop int64
	seen []map[string]string
	gone []map[string]bool
}

func newRetold(rt *rapid.T, dir string) *retold {
	folder, err := os.MkdirTemp(dir, "")
	h := &retold{rt: rt}
	if err == nil {
		h.Store, err = Open(rt.Context(), filepath.Join(folder, "bothy.db"), Options{})
	}
	if err != nil {
		rt.Fatal(err)
	}
	p, err := h.OpenProject(rt.Context(), "/p")
	if err == nil {
		h.run, err = h.CreateRun(rt.Context(), sdk.Run{Project: p.ID})
	}
	if err == nil {
		var l sdk.Loop
		l, _, err = h.Enqueue(rt.Context(), sdk.Loop{Run: h.run.ID, Prompt: "p"})
		h.loop = l.ID
	}
	if err == nil {
		_, _, err = h.ClaimLoop(rt.Context(), h.run.ID)
	}
	if err != nil {
		rt.Fatal(err)
	}
	h.remember()
	return h
}

func (h *retold) remember() {
	h.seen, h.gone = append(h.seen, look(h.rt, h.Store, h.run.ID)), append(h.gone, map[string]bool{})
}

// aTurn opens a turn, writes some, and closes it.
func (h *retold) aTurn() {
	turn := len(h.seen)
	h.commit(sdk.Change{OpenTurn: &sdk.Turn{Loop: h.loop}})
	for range rapid.IntRange(0, 4).Draw(h.rt, "writes") {
		w := h.aWrite(turn)
		if h.commit(sdk.Change{Writes: []sdk.Write{w}}) && w.Visibility == "" {
			for i := range h.gone {
				h.gone[i][w.Path] = true
			}
		}
	}
	h.commit(sdk.Change{CloseTurn: &sdk.Turn{Sequence: turn}})
	h.remember()
}

func (h *retold) aWrite(turn int) sdk.Write {
	w := sdk.Write{Path: "known://" + rapid.StringMatching("[ab]").Draw(h.rt, "path"), Writer: sdk.WriterModel, Turn: turn}
	switch rapid.IntRange(0, 4).Draw(h.rt, "kind") {
	case 0:
		w.Visibility = sdk.Archived
	case 1:
		w.Attributes = object(fmt.Sprintf(`{"n":%d}`, rapid.IntRange(0, 1).Draw(h.rt, "n")))
	case 2:
		w.Remove = true
	default:
		w.Body = body(rapid.StringMatching("[xy]").Draw(h.rt, "body"))
	}
	return w
}

// commit reports whether there was something to change.
func (h *retold) commit(c sdk.Change) bool {
	c.Run = h.run.ID
	_, err := h.Commit(h.rt.Context(), c)
	if err != nil && sdk.OutcomeOf(err) != sdk.NotFound {
		h.rt.Fatal(err)
	}
	return err == nil
}

// look is what a run sees: all of each entry that a fork shares.
func look(rt *rapid.T, s *Store, run int64) map[string]string {
	all, err := s.Entries(rt.Context(), sdk.EntryQuery{Run: run})
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
