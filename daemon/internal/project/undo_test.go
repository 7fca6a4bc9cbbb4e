package project

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

// TestUndoStaysInTheProject: what a tool tells of is not believed.
func TestUndoStaysInTheProject(t *testing.T) {
	outside := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(outside, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	after := &sdk.FileState{Kind: "file", Hash: sum("mine")}
	for _, at := range []string{"..", "../victim", "/etc/passwd", "a/../../victim", ".", "a//b", "./a", "a\x00b", outside} {
		c, err := Ground{Root: t.TempDir(), May: anything}.Look([]Step{{FileChange: sdk.FileChange{Path: at, After: after}, Turn: 1}}, everything)
		if err != nil || len(c.ops) > 0 || len(c.Differences) != 1 || !strings.Contains(c.Differences[0].Conflict, "no path in the project") {
			t.Errorf("%q: %+v, %v", at, c, err)
		}
	}
	dir := t.TempDir()
	if err := os.Symlink(filepath.Dir(outside), filepath.Join(dir, "way")); err != nil {
		t.Fatal(err)
	}
	c, err := Ground{Root: dir, Kept: kept.In(t.TempDir()), May: anything}.Look([]Step{{FileChange: sdk.FileChange{Path: "way/victim", After: after}, Turn: 1}}, everything)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Undo(context.Background(), dir, "run", func([]sdk.FileChange) error { return nil }); err != nil {
		t.Errorf("through a link: %+v, %v", c.ops, err)
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

// TestUndoLooksAgain: what changes between looking and taking back is kept.
func TestUndoLooksAgain(t *testing.T) {
	w := opened(t, t)
	w.write("a", "one")
	c, err := w.ground().Look(w.steps, everything)
	w.must(err)
	w.other("a", "somebody else")
	if err := w.undo(c); sdk.OutcomeOf(err) != sdk.Conflict {
		t.Errorf("got %v", err)
	}
	if b, _ := os.ReadFile(w.at("a")); string(b) != "somebody else" {
		t.Errorf("a is %q", b)
	}
}

// TestUndoLeavesWholly: what cannot be taken back wholly is not taken back at all.
func TestUndoLeavesWholly(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w *workshop)
		want map[string]string
	}{
		"written by two in turns": {func(w *workshop) {
			w.write("a", "run")
			w.other("a", "other")
			w.write("a", "run again")
			w.write("b", "run")
		}, map[string]string{"a": "run again"}},
		"written, then moved": {func(w *workshop) {
			w.write("a", "run")
			w.move("a", "b")
			w.other("b", "other")
		}, map[string]string{"b": "other"}},
		"in a new folder": {func(w *workshop) {
			w.mkdir("d")
			w.write("d/a", "run")
			w.other("d/a", "other")
			w.write("d/a", "run again")
			w.write("d/b", "run")
		}, map[string]string{"d/a": "run again"}},
		"in a folder that was moved": {func(w *workshop) {
			w.mkdir("d")
			w.write("d/a", "run")
			w.steps = nil
			w.move("d", "e")
			w.write("e/a", "run again")
			w.other("e/a", "other")
		}, map[string]string{"d/a": "other"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := opened(t, t)
			c.do(w)
			for range 2 { // the second time there is nothing left to be done
				got, err := w.ground().Look(w.steps, everything)
				w.must(err)
				w.must(w.undo(got))
				files := w.tree()
				maps.DeleteFunc(files, func(_, text string) bool { return strings.HasPrefix(text, "d") })
				for at, text := range files {
					_, files[at], _ = strings.Cut(text, " ")
				}
				if !maps.Equal(files, c.want) {
					t.Fatalf("got %v, want %v", files, c.want)
				}
			}
			got, err := w.ground().Look(w.steps, everything)
			w.must(err)
			if len(got.ops) > 0 || len(got.Differences) == 0 {
				t.Errorf("there is %+v to be done for %+v", got.ops, got.Differences)
			}
		})
	}
}

// TestUndoneIsForgotten: what was taken back is nobody's concern any more.
func TestUndoneIsForgotten(t *testing.T) {
	w := opened(t, t)
	w.other("a", "one")
	w.write("a", "two")
	w.write("b", "two")
	for range 3 {
		c, err := w.ground().Look(w.steps, everything)
		w.must(err)
		w.must(w.undo(c))
	}
	if len(w.steps) != 4 {
		t.Errorf("taking nothing back was told of: %d steps", len(w.steps))
	}
	w.other("a", "three")
	w.write("c", "new")
	c, err := w.ground().Look(w.steps, everything)
	w.must(err)
	if len(c.Differences) != 1 || c.Differences[0].Path != "c" || c.Differences[0].Conflict != "" {
		t.Errorf("got %+v", c.Differences)
	}
}

// TestUndoCutShortAndTouched: what somebody did after a taking back was cut
// short is seen, and is not taken for its work.
func TestUndoCutShortAndTouched(t *testing.T) {
	w := opened(t, t)
	w.write("a", "run")
	w.write("b", "run")
	c, err := w.ground().Look(w.steps, everything)
	w.must(err)
	for _, o := range c.ops {
		w.steps = append(w.steps, Step{FileChange: o.told, Back: 1, Unsure: true})
	}
	w.must(os.Remove(w.at("b"))) // as the first op does
	w.other("a", "other")
	c, err = w.ground().Look(w.steps, everything)
	w.must(err)
	if len(c.Made()) != 1 || len(c.Differences) != 1 || c.Differences[0].Path != "a" || c.Differences[0].Conflict == "" {
		t.Errorf("made %+v, differences %+v", c.Made(), c.Differences)
	}
}

// TestUndoOfWhatCannotBeRead: one path that cannot be looked at is a conflict of
// its own and hides no other.
func TestUndoOfWhatCannotBeRead(t *testing.T) {
	w := opened(t, t)
	w.write("a", "run")
	w.write("big", "run")
	w.must(os.Truncate(w.at("big"), mostRead+1)) // which is read, however large it is
	long := strings.Repeat("x", 300)
	w.did(sdk.FileChange{Path: long, After: &sdk.FileState{Kind: "file", Hash: sum("")}})
	w.write("fifo", "run")
	w.must(os.Remove(w.at("fifo")))
	w.must(syscall.Mkfifo(w.at("fifo"), 0o600))
	c, err := w.ground().Look(w.steps, everything)
	w.must(err)
	conflicts := map[string]string{}
	for _, d := range c.Differences {
		conflicts[d.Path] = d.Conflict
	}
	want := map[string]string{
		"a": "", "big": "something else changed it since",
		long: "whether something else changed it since is not known: it cannot be looked at: file name too long", "fifo": "something else changed it since",
	}
	if !maps.Equal(conflicts, want) {
		t.Errorf("got %q", conflicts)
	}
}

// TestUndoAfterACrashInAWrite: what was written of a file is gone in the end.
func TestUndoAfterACrashInAWrite(t *testing.T) {
	w := opened(t, t)
	w.mkdir("d")
	w.write("d/a", "one")
	w.steps = nil
	w.write("d/a", "two")
	name := ".bothy-" + sum("run\x00d/a")[:16] + ".tmp"
	w.other("d/"+name, "half of")
	c, err := w.ground().Look(w.steps, everything)
	w.must(err)
	w.must(w.undo(c))
	if got := w.tree(); len(got) != 2 || !strings.HasSuffix(got["d/a"], " one") {
		t.Errorf("got %v", got)
	}
}
