package project

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
)

// TestRedoMakesAgain: what was taken back and made again is to the byte and the mode what it
// was, as often as that is done, and can be taken back again.
func TestRedoMakesAgain(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorkshop(t, rt)
		before := w.tree()
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			w.anyStep(rt)
		}
		after := w.tree()
		for round := range 3 {
			c, err := w.ground().Look(w.steps, everything)
			w.must(err)
			w.free(c)
			w.must(w.undo(c))
			if got := w.tree(); !maps.Equal(got, before) {
				rt.Fatalf("round %d: taken back, the project is\n%v\nand was\n%v\n%+v", round, got, before, w.steps)
			}
			c, err = w.ground().LookBack(w.steps)
			w.must(err)
			w.free(c)
			w.must(w.back(c, true))
			if got := w.tree(); !maps.Equal(got, after) {
				rt.Fatalf("round %d: made again, the project is\n%v\nand was\n%v\n%+v", round, got, after, w.steps)
			}
			if c, err = w.ground().LookBack(w.steps); err != nil || len(c.ops) > 0 {
				rt.Fatalf("there is %+v to be made again, %v", c.ops, err)
			}
		}
	})
}

// free refuses conflicts.
func (w *workshop) free(c *Changes) {
	for _, d := range c.Differences {
		if d.Conflict != "" {
			w.t.Fatalf("%s: %s\n%+v", d.Path, d.Conflict, w.steps)
		}
	}
}

// TestUndoOfSome: taking some turns back takes back what they did, and nothing that another
// turn did; where that cannot be, the other turn is named. Made again, all is as it was.
func TestUndoOfSome(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorkshop(t, rt)
		for range rapid.IntRange(1, 12).Draw(rt, "steps") {
			w.anyStep(rt)
		}
		for i := range w.steps {
			w.steps[i].Turn = 1 + i/2
			w.steps[i].Action = fmt.Sprintf("log://turn_%d/t/call", 1+i/2)
		}
		after := w.tree()
		turn := rapid.IntRange(1, 6).Draw(rt, "turn")
		chosen := func(s Step) bool { return s.Turn == turn }
		c, err := w.ground().Look(w.steps, chosen)
		w.must(err)
		for _, d := range c.Differences {
			if d.Conflict != "" && !strings.Contains(d.Conflict, "after it (log://turn_") {
				rt.Fatalf("%s: %s\n%+v", d.Path, d.Conflict, w.steps)
			}
		}
		untouched := map[string]bool{}
		for _, s := range w.steps {
			if s.Turn > turn {
				untouched[s.Path] = true
			}
		}
		w.must(w.undo(c))
		now := w.tree()
		for at := range untouched {
			if now[at] != after[at] {
				rt.Fatalf("%s of a later turn is %q and was %q\n%+v", at, now[at], after[at], w.steps)
			}
		}
		c, err = w.ground().LookBack(w.steps)
		w.must(err)
		w.free(c)
		w.must(w.back(c, true))
		if got := w.tree(); !maps.Equal(got, after) {
			rt.Fatalf("made again, the project is\n%v\nand was\n%v\n%+v", got, after, w.steps)
		}
	})
}

// TestDiffOfSome: what one turn did is shown though another came after it, and why it cannot be taken back alone.
func TestDiffOfSome(t *testing.T) {
	w := opened(t, t)
	w.other("a", "one\n")
	w.write("a", "two\n")   // turn 1
	w.write("a", "three\n") // turn 2
	w.write("b", "new\n")   // turn 3
	for turn, want := range map[int]string{
		1: "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-one\n+two\n",
		2: "--- a/a\n+++ b/a\n@@ -1 +1 @@\n-two\n+three\n",
		3: "--- /dev/null\n+++ b/b\n@@ -0,0 +1 @@\n+new\n",
	} {
		c, err := w.ground().Look(w.steps, func(s Step) bool { return s.Turn == turn })
		w.must(err)
		if len(c.Differences) != 1 || c.Differences[0].Diff != want {
			t.Fatalf("turn %d: %+v", turn, c.Differences)
		}
		if conflict := c.Differences[0].Conflict; (conflict != "") != (turn == 1) || turn == 1 && !strings.HasPrefix(conflict, "turn 2 changed a after it") {
			t.Errorf("turn %d: %s", turn, conflict)
		}
	}
	c, err := w.ground().Look(w.steps, func(s Step) bool { return s.Turn == 2 })
	w.must(err)
	w.must(w.undo(c))
	if b, _ := os.ReadFile(w.at("a")); string(b) != "two\n" {
		t.Errorf("a is %q", b)
	}
}

// TestRedoLeavesWhatOthersTouched: nothing that somebody wrote after an undo is lost.
func TestRedoLeavesWhatOthersTouched(t *testing.T) {
	w := opened(t, t)
	w.other("a", "one")
	w.write("a", "two")
	c, err := w.ground().Look(w.steps, everything)
	w.must(err)
	w.must(w.undo(c))
	w.other("a", "mine")
	c, err = w.ground().LookBack(w.steps)
	w.must(err)
	if len(c.Differences) != 1 || c.Differences[0].Conflict == "" || len(c.ops) > 0 {
		t.Errorf("got %+v", c.Differences)
	}
}

// TestUndoOfALargeFile: contents that no memory should hold go through the store and back.
func TestUndoOfALargeFile(t *testing.T) {
	w := opened(t, t)
	w.must(os.WriteFile(w.at("big"), nil, 0o600))
	w.must(os.Truncate(w.at("big"), mostRead+1))
	before := w.state("big")
	f, err := os.Open(w.at("big"))
	w.must(err)
	digest, size, err := w.kept.Put(f)
	w.must(err)
	w.must(f.Close())
	if size != mostRead+1 || digest != before.Hash {
		t.Fatalf("kept %d bytes as %s, want %s", size, digest, before.Hash)
	}
	w.must(os.Truncate(w.at("big"), mostRead+2))
	w.did(sdk.FileChange{Path: "big", Before: before, After: w.state("big"), Kept: digest})
	after := w.state("big")
	c, err := w.ground().Look(w.steps, everything)
	w.must(err)
	w.must(w.undo(c))
	if got := w.state("big"); *got != *before {
		t.Errorf("taken back it is %+v", got)
	}
	c, err = w.ground().LookBack(w.steps)
	w.must(err)
	w.must(w.back(c, true))
	if got := w.state("big"); *got != *after {
		t.Errorf("made again it is %+v", got)
	}
}

// TestUndoStopsWhenTold: an undo that is given up has changed nothing more.
func TestUndoStopsWhenTold(t *testing.T) {
	w := opened(t, t)
	w.write("a", strings.Repeat("one ", mostSpliced))
	c, err := w.ground().Look(w.steps, everything)
	w.must(err)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := c.Undo(ctx, w.dir, "run", func([]sdk.FileChange) error { return nil }); err == nil {
		t.Error("it went on")
	}
	if w.state("a") == nil {
		t.Error("a is gone")
	}
}

// TestModeOfTheProject: the project's own folder can have got another mode, which is taken
// back and made again with what was done in it.
func TestModeOfTheProject(t *testing.T) {
	w := opened(t, t)
	w.must(os.Chmod(w.dir, 0o700))
	w.write("f", "old")
	w.steps = nil
	w.must(os.Chmod(w.dir, 0o770))
	w.did(sdk.FileChange{Path: ".", Before: &sdk.FileState{Kind: "directory", Mode: 0o700}, After: &sdk.FileState{Kind: "directory", Mode: 0o770}})
	w.write("f", "new")
	w.write("d", "made")
	is := func(mode os.FileMode, text string) {
		t.Helper()
		info, err := os.Stat(w.dir)
		w.must(err)
		b, err := os.ReadFile(w.at("f"))
		w.must(err)
		if info.Mode().Perm() != mode || string(b) != text {
			t.Errorf("the project has mode %o, want %o, and %q, want %q", info.Mode().Perm(), mode, b, text)
		}
	}
	c, err := w.ground().Look(w.steps, everything)
	w.must(err)
	w.free(c)
	if len(c.Differences) != 3 || c.Differences[0].Mode != "0700 to 0770" {
		t.Errorf("the differences are %+v", c.Differences)
	}
	w.must(w.undo(c))
	is(0o700, "old")
	c, err = w.ground().LookBack(w.steps)
	w.must(err)
	w.free(c)
	w.must(w.back(c, true))
	is(0o770, "new")
}
