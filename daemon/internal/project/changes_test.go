package project

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

func anything(string, bool) error { return nil }

// workshop is a project on disk with a tool that tells of what it changes.
type workshop struct {
	t     rapid.TB
	dir   string
	kept  kept.Store
	steps []Step
	undos int
	stash bool // it keeps contents in the store instead of splices
}

// opened is a workshop in an empty project.
func opened(t testing.TB, rt rapid.TB) *workshop {
	return &workshop{t: rt, dir: t.TempDir(), kept: kept.In(t.TempDir())}
}

func (w *workshop) ground() Ground { return Ground{Root: w.dir, Kept: w.kept, May: anything} }

// keep has the contents that a change replaced kept, as a splice or in the store.
func (w *workshop) keep(c *sdk.FileChange, old, now string) {
	if !w.stash {
		s := sdk.SpliceOf(old, now)
		c.Undo = &s
		return
	}
	digest, _, err := w.kept.Put(strings.NewReader(old))
	w.must(err)
	c.Kept = digest
}

func (w *workshop) at(path string) string { return filepath.Join(w.dir, path) }

func (w *workshop) must(err error) {
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *workshop) state(path string) *sdk.FileState {
	root, err := os.OpenRoot(w.dir)
	w.must(err)
	defer root.Close()
	n := onDisk(root, path)
	if n == nil {
		return nil
	}
	return &sdk.FileState{Kind: n.kind, Mode: uint32(n.mode), Hash: n.hash, Target: n.target}
}

func (w *workshop) did(c sdk.FileChange) {
	w.steps = append(w.steps, Step{FileChange: c, Turn: len(w.steps) + 1})
}

func (w *workshop) write(path, text string) {
	before, old := w.state(path), ""
	if before != nil && before.Kind != "file" || !w.folder(filepath.Dir(path)) {
		return
	}
	c := sdk.FileChange{Path: path, Before: before}
	if before != nil {
		b, err := os.ReadFile(w.at(path))
		w.must(err)
		old = string(b)
		w.keep(&c, old, text)
	}
	w.must(os.WriteFile(w.at(path), []byte(text), 0o640))
	c.After = &sdk.FileState{Kind: "file", Hash: sum(text)}
	w.did(c)
}

func (w *workshop) folder(path string) bool {
	info, err := os.Lstat(w.at(path))
	return err == nil && info.IsDir()
}

func (w *workshop) mkdir(path string) {
	if w.folder(filepath.Dir(path)) && os.Mkdir(w.at(path), 0o750) == nil {
		w.did(sdk.FileChange{Path: path, After: &sdk.FileState{Kind: "directory"}})
	}
}

func (w *workshop) link(path, target string) {
	if w.folder(filepath.Dir(path)) && os.Symlink(target, w.at(path)) == nil {
		w.did(sdk.FileChange{Path: path, After: &sdk.FileState{Kind: "link", Target: target}})
	}
}

func (w *workshop) remove(path string) {
	before := w.state(path)
	if before == nil {
		return
	}
	if before.Kind == "directory" {
		names, err := os.ReadDir(w.at(path))
		w.must(err)
		for _, n := range names {
			w.remove(filepath.Join(path, n.Name()))
		}
	}
	c := sdk.FileChange{Path: path, Before: before}
	if before.Kind == "file" {
		b, err := os.ReadFile(w.at(path))
		w.must(err)
		w.keep(&c, string(b), "")
	}
	w.must(os.Remove(w.at(path)))
	w.did(c)
}

func (w *workshop) move(from, to string) {
	before := w.state(from)
	if before == nil || from == to || strings.HasPrefix(to, from+"/") || strings.HasPrefix(from, to+"/") || !w.folder(filepath.Dir(to)) {
		return
	}
	if over := w.state(to); over != nil {
		if over.Kind == "directory" || before.Kind == "directory" {
			return
		}
		w.remove(to)
	}
	w.must(os.Rename(w.at(from), w.at(to)))
	w.did(sdk.FileChange{Path: to, From: from, After: &sdk.FileState{Kind: before.Kind}})
}

// chmod gives a file or folder another mode, as a command would.
func (w *workshop) chmod(path string, mode fs.FileMode) {
	before := w.state(path)
	if before == nil || before.Kind == "link" || fs.FileMode(before.Mode) == mode {
		return
	}
	w.must(os.Chmod(w.at(path), mode))
	w.did(sdk.FileChange{Path: path, Before: before, After: w.state(path)})
}

// become makes a link of a file, or a file of a link, in one change.
func (w *workshop) become(path, text string) {
	before := w.state(path)
	if before == nil || before.Kind == "directory" {
		return
	}
	c := sdk.FileChange{Path: path, Before: before}
	if before.Kind == "file" {
		b, err := os.ReadFile(w.at(path))
		w.must(err)
		w.keep(&c, string(b), "")
	}
	w.must(os.Remove(w.at(path)))
	if before.Kind == "file" {
		w.must(os.Symlink(text, w.at(path)))
	} else {
		w.must(os.WriteFile(w.at(path), []byte(text), 0o600))
	}
	c.After = w.state(path)
	w.did(c)
}

// undo takes back, and is told of.
func (w *workshop) undo(c *Changes) error { return w.back(c, false) }

func (w *workshop) back(c *Changes, redo bool) error {
	w.undos++
	err := c.Undo(context.Background(), w.dir, "run", func(told []sdk.FileChange) error {
		w.settle(nil)
		for _, x := range told {
			w.steps = append(w.steps, Step{FileChange: x, Back: w.undos, Redo: redo, Unsure: true})
		}
		return nil
	})
	if err == nil {
		w.settle(nil)
	}
	return err
}

// settle says of the unsure steps that they were made: all, or those that c has found.
func (w *workshop) settle(c *Changes) {
	var steps []Step
	var made []sdk.FileChange
	if c != nil {
		made = c.Made()
	}
	for _, s := range w.steps {
		if s.Unsure && c != nil {
			if len(made) == 0 || made[0] != s.FileChange {
				continue
			}
			made = made[1:]
		}
		s.Unsure = false
		steps = append(steps, s)
	}
	w.steps = steps
}

// undoSome takes back until it is cut short.
func (w *workshop) undoSome(rt *rapid.T, c *Changes) {
	w.undos++
	most, n := rapid.IntRange(0, len(c.ops)).Draw(rt, "cut"), 0
	dir, err := os.OpenRoot(w.dir)
	w.must(err)
	defer dir.Close()
	for ops := c.ops; len(ops) > 0; ops = ops[stage(ops):] {
		w.settle(nil)
		w.must(c.keep(context.Background(), dir, ops[:stage(ops)]))
		for _, o := range ops[:stage(ops)] {
			w.steps = append(w.steps, Step{FileChange: o.told, Back: w.undos, Unsure: true})
		}
		for _, o := range ops[:stage(ops)] {
			if n++; n > most {
				return
			}
			w.must(o.do(dir, "run", w.kept))
		}
	}
	w.settle(nil)
}

// tree is everything in the project, as text.
func (w *workshop) tree() map[string]string {
	all := map[string]string{}
	w.must(filepath.WalkDir(w.dir, func(at string, d fs.DirEntry, err error) error {
		if err != nil || at == w.dir {
			return err
		}
		rel, _ := filepath.Rel(w.dir, at)
		info, err := d.Info()
		if err != nil {
			return err
		}
		switch info.Mode().Type() {
		case 0:
			b, err := os.ReadFile(at)
			all[rel] = fmt.Sprintf("%v %s", info.Mode(), b)
			return err
		case fs.ModeSymlink:
			target, err := os.Readlink(at)
			all[rel] = "-> " + target
			return err
		default:
			all[rel] = info.Mode().String()
		}
		return nil
	}))
	return all
}

var paths = rapid.SampledFrom([]string{"a", "b", "d", "d/a", "d/b", "d/e", "d/e/a", "f", "f/a"})

func (w *workshop) anyStep(t *rapid.T) {
	at := paths.Draw(t, "path")
	w.stash = rapid.Bool().Draw(t, "kept in the store")
	switch rapid.IntRange(0, 9).Draw(t, "what") {
	case 8:
		w.chmod(at, rapid.SampledFrom([]fs.FileMode{0o700, 0o750, 0o755, 0o640}).Draw(t, "mode")|0o700)
	case 9:
		w.become(at, rapid.SampledFrom([]string{"a", "../..", "d", "e"}).Draw(t, "text"))
	case 0, 1, 2:
		w.write(at, rapid.StringOf(rapid.SampledFrom([]rune("ab\n"))).Draw(t, "text"))
	case 3:
		w.mkdir(at)
	case 4:
		w.remove(at)
	case 5:
		w.link(at, rapid.SampledFrom([]string{"a", "../..", "d"}).Draw(t, "target"))
	default:
		w.move(at, paths.Draw(t, "to"))
	}
}

func newWorkshop(t *testing.T, rt *rapid.T) *workshop {
	w := opened(t, rt)
	for range rapid.IntRange(0, 8).Draw(rt, "files before") {
		w.anyStep(rt)
	}
	w.steps = nil
	return w
}

// TestUndoTakesBackWhatARunDid: whatever a run did, taking it back leaves the
// project as it was, also when it was cut short and began again.
func TestUndoTakesBackWhatARunDid(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorkshop(t, rt)
		before := w.tree()
		for range rapid.IntRange(0, 15).Draw(rt, "steps") {
			w.anyStep(rt)
		}
		c, err := w.ground().Look(w.steps, everything)
		w.must(err)
		for _, d := range c.Differences {
			if d.Conflict != "" {
				rt.Fatalf("%s cannot be taken back: %s\n%+v", d.Path, d.Conflict, w.steps)
			}
		}
		if after := w.tree(); (len(c.Differences) == 0) != maps.Equal(before, after) {
			rt.Fatalf("%d differences between\n%v and\n%v", len(c.Differences), before, after)
		}
		for left := rapid.IntRange(0, 3).Draw(rt, "cuts"); left > 0; left-- {
			w.undoSome(rt, c)
			c, err = w.ground().Look(w.steps, everything)
			w.must(err)
			w.settle(c)
		}
		w.must(w.undo(c))
		c, err = w.ground().Look(w.steps, everything)
		w.must(err)
		if len(c.Differences)+len(c.ops) > 0 {
			rt.Fatalf("after it was taken back there is %+v to be done, for %+v\n%+v", c.ops, c.Differences, w.steps)
		}
		if got := w.tree(); !maps.Equal(got, before) {
			rt.Fatalf("taken back, the project is\n%v\nand was\n%v\nsteps: %+v", got, before, w.steps)
		}
	})
}

// TestUndoLeavesWhatOthersTouched: what somebody else wrote since is never lost.
func TestUndoLeavesWhatOthersTouched(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		w := newWorkshop(t, rt)
		for range rapid.IntRange(1, 10).Draw(rt, "steps") {
			w.anyStep(rt)
		}
		written := "somebody's own words"
		at := paths.Draw(rt, "touched")
		steps := slices.Clone(w.steps)
		w.write(at, written)
		if len(w.steps) == len(steps) {
			return // nothing could be written there
		}
		c, err := w.ground().Look(steps, everything)
		w.must(err)
		before := w.tree()
		w.must(w.undo(c))
		left := slices.Collect(maps.Values(w.tree()))
		for _, d := range c.Differences {
			if was := before[d.Path]; d.Conflict != "" && was != "" && !slices.Contains(left, was) {
				rt.Fatalf("%s was said to be left, and %q is gone: %v\n%+v", d.Path, was, w.tree(), steps)
			}
		}
		if !slices.ContainsFunc(slices.Collect(maps.Values(w.tree())), func(s string) bool { return strings.HasSuffix(s, written) }) {
			rt.Fatalf("what was written to %s is gone: %v", at, w.tree())
		}
	})
}

func TestDifferences(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(w *workshop)
		want []sdk.Difference
	}{
		"nothing":         {func(*workshop) {}, nil},
		"changed":         {func(w *workshop) { w.write("old", "one\nTWO\n") }, []sdk.Difference{{Path: "old", Kind: "file", Status: "changed", Turns: []int{1}, Added: 1, Removed: 1}}},
		"changed back":    {func(w *workshop) { w.write("old", "x"); w.write("old", "one\ntwo\n") }, nil},
		"added":           {func(w *workshop) { w.write("new", "x\n") }, []sdk.Difference{{Path: "new", Kind: "file", Status: "added", Turns: []int{1}, Added: 1}}},
		"added and gone":  {func(w *workshop) { w.write("new", "x\n"); w.remove("new") }, nil},
		"deleted":         {func(w *workshop) { w.remove("old") }, []sdk.Difference{{Path: "old", Kind: "file", Status: "deleted", Turns: []int{1}, Removed: 2}}},
		"moved":           {func(w *workshop) { w.move("old", "new") }, []sdk.Difference{{Path: "new", From: "old", Kind: "file", Status: "moved", Turns: []int{1}}}},
		"moved, changed":  {func(w *workshop) { w.move("old", "new"); w.write("new", "one\n") }, []sdk.Difference{{Path: "new", From: "old", Kind: "file", Status: "moved", Turns: []int{1, 2}, Removed: 1}}},
		"folder":          {func(w *workshop) { w.mkdir("d") }, []sdk.Difference{{Path: "d", Kind: "directory", Status: "added", Turns: []int{1}}}},
		"binary":          {func(w *workshop) { w.write("old", "\x00") }, []sdk.Difference{{Path: "old", Kind: "file", Status: "changed", Turns: []int{1}, Binary: true}}},
		"touched since":   {func(w *workshop) { w.write("old", "x"); w.other("old", "y") }, []sdk.Difference{{Path: "old", Kind: "file", Status: "changed", Turns: []int{1}, Conflict: "something else changed it since"}}},
		"gone since":      {func(w *workshop) { w.write("new", "x"); w.must(os.Remove(w.at("new"))) }, nil},
		"changed, gone":   {func(w *workshop) { w.write("old", "x"); w.must(os.Remove(w.at("old"))) }, []sdk.Difference{{Path: "old", Kind: "file", Status: "changed", Turns: []int{1}, Conflict: "it is not there any more"}}},
		"there since":     {func(w *workshop) { w.remove("old"); w.other("old", "y") }, []sdk.Difference{{Path: "old", Kind: "file", Status: "deleted", Turns: []int{1}, Conflict: "something else is there now"}}},
		"touched between": {func(w *workshop) { w.write("old", "x"); w.other("old", "y"); w.write("old", "z") }, []sdk.Difference{{Path: "old", Kind: "file", Status: "changed", Turns: []int{1, 2}, Conflict: "something else changed it since"}}},
		"not kept": {func(w *workshop) {
			w.write("old", "x")
			w.steps[0].Undo, w.steps[0].Lost = nil, "it was large"
		}, []sdk.Difference{{Path: "old", Kind: "file", Status: "changed", Turns: []int{1}, Conflict: "what it was before is not known: it was large"}}},
		"another mode":   {func(w *workshop) { w.chmod("old", 0o755) }, []sdk.Difference{{Path: "old", Kind: "file", Status: "changed", Turns: []int{1}, Mode: "0600 to 0755"}}},
		"a link instead": {func(w *workshop) { w.become("old", "x") }, []sdk.Difference{{Path: "old", Kind: "link", Status: "changed", Turns: []int{1}}}},
		"pruned": {func(w *workshop) {
			w.stash = true
			w.write("old", "x")
			_, err := w.kept.Prune(1, 0)
			w.must(err)
		}, []sdk.Difference{{Path: "old", Kind: "file", Status: "changed", Turns: []int{1}, Conflict: "what it held before is not kept any more"}}},
		"another mode since": {func(w *workshop) {
			w.chmod("old", 0o755)
			w.must(os.Chmod(w.at("old"), 0o700))
		}, []sdk.Difference{{Path: "old", Kind: "file", Status: "changed", Turns: []int{1}, Conflict: "something else changed it since"}}},
		"refused": {func(w *workshop) { w.write("secret", "x") }, []sdk.Difference{{Path: "secret", Kind: "file", Status: "added", Turns: []int{1}, Conflict: "protected"}}},
	} {
		t.Run(name, func(t *testing.T) {
			w := opened(t, t)
			w.other("old", "one\ntwo\n")
			c.do(w)
			ground := w.ground()
			ground.May = func(path string, _ bool) error {
				if path == "secret" {
					return sdk.Errorf(sdk.Permission, "protected")
				}
				return nil
			}
			got, err := ground.Look(w.steps, everything)
			w.must(err)
			for i := range got.Differences {
				if d := &got.Differences[i]; d.Conflict == "" && d.Kind == "file" && !d.Binary && d.Diff == "" && d.Added+d.Removed > 0 {
					t.Errorf("%s has no diff", d.Path)
				}
				d := &got.Differences[i]
				if names := sidesOf(*d); d.Diff != "" && !strings.HasPrefix(d.Diff, names) {
					t.Errorf("the diff does not begin with %q: %s", names, d.Diff)
				}
				got.Differences[i].Diff = ""
			}
			if fmt.Sprintf("%+v", got.Differences) != fmt.Sprintf("%+v", c.want) {
				t.Errorf("got  %+v\nwant %+v", got.Differences, c.want)
			}
		})
	}
}

// sidesOf are the lines that a diff begins with.
func sidesOf(d sdk.Difference) string {
	switch {
	case d.Status == "added":
		return "--- /dev/null\n+++ b/" + d.Path + "\n"
	case d.Status == "deleted":
		return "--- a/" + d.Path + "\n+++ /dev/null\n"
	case d.From != "":
		return "--- a/" + d.From + "\n+++ b/" + d.Path + "\n"
	default:
		return "--- a/" + d.Path + "\n+++ b/" + d.Path + "\n"
	}
}

// other writes as somebody else would.
func (w *workshop) other(path, text string) { w.must(os.WriteFile(w.at(path), []byte(text), 0o600)) }
