//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bothyd/bothy/sandbox"
)

// accept agrees to what waits, as it was told.
func (f *fixture) accept(held ...sandbox.Held) sandbox.Result {
	f.t.Helper()
	var agreed []sandbox.Agreed
	for _, h := range held {
		agreed = append(agreed, sandbox.Agreed{Path: h.Path, Digest: h.Digest})
	}
	r, err := f.manager.Apply(f.t.Context(), f.run, agreed)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// waits fails the test unless just these paths wait for an answer.
func (f *fixture) waits(want ...string) {
	f.t.Helper()
	got := sandbox.HeldPaths(f.run.RunDir)
	if slices.Sort(got); !slices.Equal(got, want) {
		f.t.Errorf("held are %q, want %q", got, want)
	}
}

// TestWhatWaitsIsAddedTo: a command that adds to a folder that waits, removes from it or
// writes over what is in it leaves the rest of it waiting, and what is asked then is all.
func TestWhatWaitsIsAddedTo(t *testing.T) {
	f := viewFixture(t)
	first := f.bash("mkdir -p asked.d/sub; for n in a b c sub/x; do echo one > asked.d/$n; done")
	if len(first.Held) != 1 || first.Held[0].Path != "asked.d" {
		t.Fatalf("%+v", first.Held)
	}
	second := f.bash("echo two > asked.d/n; echo two > asked.d/a; rm asked.d/b; echo two > asked.d/sub/y; chmod 700 asked.d/sub")
	if len(second.Held) != 1 || second.Held[0].Path != "asked.d" || second.Held[0].Digest == first.Held[0].Digest {
		t.Fatalf("%+v after %+v", second.Held, first.Held)
	}
	f.waits("asked.d")
	if got := f.ok("cd asked.d; ls . sub; cat a c sub/x"); got != ".:\na\nc\nn\nsub\n\nsub:\nx\ny\ntwo\none\none" {
		t.Errorf("a later command sees %q", got)
	}
	if r := f.accept(first.Held[0]); len(r.Changes) != 0 || len(r.Conflicts) != 1 {
		t.Errorf("an answer to what was is heeded: %+v", r)
	}
	third := f.bash("rm -r asked.d/sub; mkdir asked.d/sub; echo three > asked.d/sub/z")
	if len(third.Held) != 1 {
		t.Fatalf("%+v", third.Held)
	}
	r := f.accept(third.Held[0])
	if len(r.Conflicts) != 0 || !slices.Equal(paths(r.Changes), []string{"asked.d"}) {
		t.Fatalf("%+v", r)
	}
	want := map[string]string{"asked.d": "/", "asked.d/a": "two\n", "asked.d/c": "one\n", "asked.d/n": "two\n", "asked.d/sub": "/", "asked.d/sub/z": "three\n"}
	if got := f.contents(); !mapsEqual(got, want) {
		t.Errorf("got %q", got)
	}
	f.waits()
}

// TestWhatWaitsInAnotherFolder: what a later command makes of a folder that waits in the
// place of the project's waits too, and so does what it removes of that.
func TestWhatWaitsInAnotherFolder(t *testing.T) {
	f := viewFixture(t)
	f.write("asked.d/a", "person")
	f.write("asked.d/b", "person")
	f.ok("rm -r asked.d; mkdir asked.d; echo one > asked.d/a; echo one > asked.d/c")
	out := f.bash("echo two > asked.d/b; rm asked.d/a")
	if len(out.Changes) != 0 || len(out.Held) != 1 || out.Held[0].Path != "asked.d" {
		t.Fatalf("%+v", out.Result)
	}
	if got := f.ok("ls asked.d; cat asked.d/b"); got != "b\nc\ntwo" {
		t.Errorf("a later command sees %q", got)
	}
	if r := f.accept(out.Held[0]); len(r.Conflicts) != 0 {
		t.Fatalf("%+v", r)
	}
	if got, want := f.contents(), map[string]string{"asked.d": "/", "asked.d/b": "two\n", "asked.d/c": "one\n"}; !mapsEqual(got, want) {
		t.Errorf("got %q", got)
	}
}

// TestWhatWasAgreedToIsTheProjects: what a person agreed to is in the project, and hides
// nothing there from the commands to come.
func TestWhatWasAgreedToIsTheProjects(t *testing.T) {
	f := viewFixture(t)
	f.write("asked", "before\n")
	f.write("asked-gone", "before\n")
	f.write("asked.d/f", "before\n")
	out := f.bash("echo run > asked; rm asked-gone; rm -r asked.d; mkdir asked.d; echo run > asked.d/g; echo run > asked-new")
	r := f.accept(out.Held...)
	if len(r.Conflicts) != 0 || len(r.Changes) != 4 {
		t.Fatalf("%+v", r)
	}
	const look = "cat asked asked-new asked.d/*; ls"
	if got := f.ok(look); got != "run\nrun\nrun\nasked\nasked-new\nasked.d" {
		t.Errorf("the next command sees %q", got)
	}
	for _, c := range r.Changes {
		if text, err := os.ReadFile(c.Old); c.Path == "asked" && (err != nil || string(text) != "before\n") {
			t.Errorf("what it was: %q %v", text, err)
		}
	}
	for _, name := range []string{"asked", "asked-new", "asked.d/g", "asked-gone"} {
		f.write(name, "person\n")
	}
	if got := f.ok(look); got != "person\nperson\nperson\nasked\nasked-gone\nasked-new\nasked.d" {
		t.Errorf("after the person wrote a command sees %q", got)
	}
	r.Release()
}

// TestWhatThePersonChangedWaitsNoMore: a held change of what the person has written since
// is kept aside and told, and commands see what the person wrote.
func TestWhatThePersonChangedWaitsNoMore(t *testing.T) {
	f := viewFixture(t)
	f.write("asked", "before\n")
	f.write("asked-gone", "before\n")
	held := f.bash("echo run > asked; rm asked-gone; mkdir -p n/asked.d; echo run > n/asked.d/f; echo run > asked-new").Held
	if len(held) != 4 {
		t.Fatalf("%+v", held)
	}
	for _, name := range []string{"asked", "asked-gone", "n/asked.d/mine"} {
		f.write(name, "person\n")
	}
	out := f.bash("cat asked asked-gone n/asked.d/*; cat asked-new")
	if out.stdout != "person\nperson\nperson\nrun\n" {
		t.Errorf("a command sees %q", out.stdout)
	}
	kept := map[string]string{}
	for _, c := range out.Conflicts {
		kept[c.Path] = c.Kept
	}
	if len(kept) != 3 || kept["asked-gone"] != "" {
		t.Fatalf("%+v", out.Conflicts)
	}
	for path, at := range map[string]string{"asked": kept["asked"], "n/asked.d": filepath.Join(kept["n/asked.d"], "f")} {
		if text, err := os.ReadFile(at); err != nil || string(text) != "run\n" {
			t.Errorf("of %s is kept %q %v", path, text, err)
		}
	}
	f.waits("asked-new")
	r := f.accept(held...)
	if !slices.Equal(paths(r.Changes), []string{"asked-new"}) || len(r.Conflicts) != 3 {
		t.Errorf("%+v", r)
	}
	if f.read("asked") != "person\n" || f.read("asked-gone") != "person\n" {
		t.Error("what the person wrote is gone")
	}
}

// TestWhatWaitsSinceTheFirst: a second change of what waits does not make an edit of the
// person, which came between, agreed to.
func TestWhatWaitsSinceTheFirst(t *testing.T) {
	f := viewFixture(t)
	f.write("asked", "before\n")
	f.bash("echo one > asked")
	done := make(chan outcome)
	go func() {
		done <- f.script("echo two > asked; touch $HOME/ready; until test -e $HOME/go; do sleep 0.02; done")
	}()
	home := filepath.Join(f.run.RunDir, "home")
	eventually(t, "the command has written", func() bool { _, err := os.Stat(filepath.Join(home, "ready")); return err == nil })
	f.write("asked", "person\n")
	if err := os.WriteFile(filepath.Join(home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out := <-done
	if out.err != nil || len(out.Conflicts) != 1 || out.Conflicts[0].Path != "asked" {
		t.Fatalf("%+v %v", out.Result, out.err)
	}
	f.accept(append(out.Held, sandbox.Held{Change: sandbox.Change{Path: "asked"}})...)
	if got := f.read("asked"); got != "person\n" {
		t.Errorf("the project has %q", got)
	}
}

// TestAFolderThatGoesTakesWhatWaitsInIt: what waits in a folder that a later command
// removes, or puts another in the place of, waits no more.
func TestAFolderThatGoesTakesWhatWaitsInIt(t *testing.T) {
	f := viewFixture(t)
	for _, name := range []string{"gone/free", "other/free"} {
		f.write(name, "x")
	}
	f.ok("echo one > gone/asked; echo one > other/asked")
	f.waits("gone/asked", "other/asked")
	f.ok("rm -r gone other; mkdir other; echo two > other/f")
	f.waits()
	f.ok("test ! -e gone; test ! -e other/asked; mkdir gone")
	if got := f.ok("ls gone other"); got != "gone:\n\nother:\nf" {
		t.Errorf("a later command sees %q", got)
	}
}

// TestAFolderIsComparedWhole: a folder that a person agreed to lose stays when something
// deep in it has changed since.
func TestAFolderIsComparedWhole(t *testing.T) {
	f := viewFixture(t)
	f.write("asked.d/sub/f", "before")
	out := f.bash("rm -r asked.d")
	if len(out.Held) != 1 {
		t.Fatalf("%+v", out.Held)
	}
	f.write("asked.d/sub/f", "person")
	if r := f.accept(out.Held[0]); len(r.Changes) != 0 || len(r.Conflicts) != 1 || f.read("asked.d/sub/f") != "person" {
		t.Errorf("%+v", r)
	}
	f.waits()
	if got := f.ok("cat asked.d/sub/f"); got != "person" {
		t.Errorf("a later command sees %q", got)
	}
}

// TestModesThatWait: a person agrees to another mode of a folder, by itself and beside what
// waits in it, and commands see the modes that the person gives.
func TestModesThatWait(t *testing.T) {
	f := viewFixture(t)
	f.write("asked.d/f", "before")
	mode := func(want string) {
		t.Helper()
		if got := f.ok("stat -c %a asked.d"); got != want {
			t.Errorf("a command sees the mode %s, want %s", got, want)
		}
	}
	out := f.bash("chmod 711 asked.d")
	if len(out.Held) != 1 {
		t.Fatalf("%+v", out.Held)
	}
	if r := f.accept(out.Held[0]); len(r.Conflicts) != 0 || len(r.Changes) != 1 {
		t.Fatalf("%+v", r)
	}
	f.waits()
	mode("711")
	f.ok("chmod 700 asked.d; echo run > asked.d/f")
	f.waits("asked.d", "asked.d/f")
	if out := f.bash("echo run > asked.d/g"); len(out.Held) != 1 || out.Held[0].Path != "asked.d/g" {
		t.Errorf("%+v", out.Held)
	}
	f.waits("asked.d", "asked.d/f", "asked.d/g")
	mode("700")
	if err := os.Chmod(f.path("asked.d"), 0o750); err != nil {
		t.Fatal(err)
	}
	out = f.bash("true")
	if len(out.Conflicts) != 1 || out.Conflicts[0].Path != "asked.d" {
		t.Errorf("%+v", out.Conflicts)
	}
	f.waits("asked.d/f", "asked.d/g")
	if got := f.ok("cat asked.d/f asked.d/g"); got != "run\nrun" {
		t.Errorf("a command sees %q", got)
	}
}

// TestModeOfAFolderThatWaits: another mode of a folder that waits in another's place is a
// part of that, and a folder of which first the mode waited is compared whole when it goes.
func TestModeOfAFolderThatWaits(t *testing.T) {
	f := viewFixture(t)
	f.write("asked.d/a", "before")
	f.write("asked.e/sub/f", "before")
	f.ok("rm -r asked.d; mkdir asked.d; echo run > asked.d/n")
	out := f.bash("chmod 711 asked.d; chmod 711 asked.e")
	if len(out.Held) != 2 || !out.Held[0].Whole || out.Held[1].Whole {
		t.Fatalf("%+v", out.Held)
	}
	if r := f.accept(out.Held[0]); len(r.Conflicts) != 0 {
		t.Fatalf("%+v", r)
	}
	if got := f.contents(); got["asked.d/n"] != "run\n" || got["asked.d/a"] != "" {
		t.Errorf("got %q", got)
	}
	out = f.bash("rm -r asked.e")
	f.write("asked.e/sub/f", "person")
	if r := f.accept(out.Held...); len(r.Conflicts) != 1 || f.read("asked.e/sub/f") != "person" {
		t.Errorf("%+v", r)
	}
	f.waits()
}

// TestFoldersAboveWhatWaits: a folder in which something waits is the project's: with the
// mode that the person gives it, and gone when the person removes it.
func TestFoldersAboveWhatWaits(t *testing.T) {
	f := viewFixture(t)
	for _, name := range []string{"a/f", "b/f", "c/f"} {
		f.write(name, "x")
	}
	f.ok("for d in a b c; do echo run > $d/asked; done")
	if err := errors.Join(os.Chmod(f.path("a"), 0o700), os.RemoveAll(f.path("b")), os.RemoveAll(f.path("c")), os.WriteFile(f.path("c"), []byte("a file"), 0o600)); err != nil {
		t.Fatal(err)
	}
	out := f.bash("echo run > a/free; test ! -e b && cat c")
	if out.stdout != "a file" || len(out.Conflicts) != 2 {
		t.Errorf("%q %+v", out.stdout, out.Conflicts)
	}
	f.waits("a/asked")
	if info, err := os.Stat(f.path("a")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("a is %v, %v", info.Mode(), err)
	}
}

// TestJudgingIsLocked: what a command changed is judged and applied while nobody else
// changes the project, so that two commands cannot make together what each alone may not.
func TestJudgingIsLocked(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	var lock sync.Mutex
	var locked atomic.Bool
	cfg.Lock = func(context.Context, uint64, uint64) (func(), error) {
		lock.Lock()
		locked.Store(true)
		return func() { locked.Store(false); lock.Unlock() }, nil
	}
	// A repository is made of two halves, and each is looked for where the other comes.
	cfg.View, cfg.Judge = buildView(t), judgeFunc(func(project string, changes []sandbox.Change) []sandbox.Ruling {
		if !locked.Load() {
			t.Error("a command is judged while others may change the project")
		}
		out := make([]sandbox.Ruling, len(changes))
		for i, c := range changes {
			other := map[string]string{"half1": "half2", "half2": "half1"}[c.Path]
			if _, err := os.Lstat(filepath.Join(project, other)); other != "" && err == nil {
				out[i] = sandbox.Ruling{Class: sandbox.Refused, Reason: "the other half is there"}
			}
		}
		return out
	})
	f := newFixture(t, open(t, cfg))
	g := *f
	g.run.RunID, g.run.RunDir = f.run.RunID+"-2", f.run.RunDir+"-2"
	t.Cleanup(func() { _ = g.manager.Drop(context.Background(), g.run.RunID) })
	var both sync.WaitGroup
	for one, name := range map[*fixture]string{f: "half1", &g: "half2"} {
		both.Go(func() {
			if out := one.script("echo x > " + name); out.err != nil {
				t.Error(out.err)
			}
		})
	}
	both.Wait()
	if got := f.contents(); len(got) != 1 {
		t.Errorf("the project has %q", got)
	}
}

type judgeFunc func(string, []sandbox.Change) []sandbox.Ruling

func (j judgeFunc) Rule(_, project string, _ []string, changes []sandbox.Change, _ sandbox.Readers) []sandbox.Ruling {
	return j(project, changes)
}

// TestAFolderThatWasSwappedIsAConflict: while a command runs, the person puts another
// folder, with old files, in the place of one that the command works in.
func TestAFolderThatWasSwappedIsAConflict(t *testing.T) {
	f := viewFixture(t)
	for _, name := range []string{"d/sub/f", "d/sub/gone", "d/sub/other", "old/sub/f", "old/sub/gone", "old/sub/other", "kept/f"} {
		f.write(name, filepath.Dir(filepath.Dir(name)))
	}
	done := make(chan outcome)
	go func() {
		done <- f.script("echo run > d/sub/f; rm d/sub/gone; echo run > d/sub/n; echo run > kept/f; touch $HOME/ready; until test -e $HOME/go; do sleep 0.02; done")
	}()
	home := filepath.Join(f.run.RunDir, "home")
	eventually(t, "the command has written", func() bool { _, err := os.Stat(filepath.Join(home, "ready")); return err == nil })
	f.write("kept/more", "a name that comes is no other folder")
	if err := errors.Join(os.Rename(f.path("d"), f.path("away")), os.Rename(f.path("old"), f.path("d")),
		os.WriteFile(filepath.Join(home, "go"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	out := <-done
	if out.err != nil || f.read("d/sub/f") != "old" || f.read("d/sub/gone") != "old" || f.read("kept/f") != "run\n" {
		t.Errorf("%+v %v: the project has %q", out.Result, out.err, f.contents())
	}
	var conflicts []string
	for _, c := range out.Conflicts {
		conflicts = append(conflicts, c.Path)
	}
	if slices.Sort(conflicts); !slices.Equal(conflicts, []string{"d/sub/f", "d/sub/gone"}) {
		t.Errorf("conflicts %q", conflicts)
	}
}

// TestOnlyWhatIsKeptStays: of a command of which something was refused, just that stays
// on the disk until the run is reset.
func TestOnlyWhatIsKeptStays(t *testing.T) {
	f := viewFixture(t)
	f.write("large", strings.Repeat("x", mb))
	out := f.bash("echo no > refused; head -c 1M /dev/zero > large; mkdir refused.d; echo no > refused.d/f")
	if len(out.Violations) != 2 || len(out.Changes) != 1 {
		t.Fatalf("%+v", out.Result)
	}
	folder := filepath.Dir(filepath.Dir(out.Changes[0].Old))
	out.Release()
	f.bash("true").Release()
	eventually(t, "the view's folder is gone", func() bool { _, err := os.Lstat(folder); return err != nil })
	for _, v := range out.Violations {
		if _, err := os.Lstat(v.Kept); err != nil {
			t.Errorf("what was made of %s is not kept: %v", v.Path, err)
		}
	}
	if text, err := os.ReadFile(filepath.Join(out.Violations[1].Kept, "f")); err != nil || string(text) != "no\n" {
		t.Errorf("kept is %q %v", text, err)
	}
	if err := f.manager.Reset(t.Context(), f.run); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(out.Violations[0].Kept); err == nil {
		t.Error("it stays after a reset")
	}
}

// TestWhatWasAppliedLateIsToldByALaterManager: what one manager finished, and told nobody,
// is told by the next.
func TestWhatWasAppliedLateIsToldByALaterManager(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	cfg.View, cfg.Judge = buildView(t), judgeByName{}
	var busy atomic.Bool
	cfg.Lock = func(context.Context, uint64, uint64) (func(), error) {
		if busy.Load() {
			return nil, errors.New("something else changes the project")
		}
		return func() {}, nil
	}
	f := newFixture(t, open(t, cfg))
	f.write("a", "person\n")
	busy.Store(true)
	if out := f.script("echo run > a"); out.err == nil {
		t.Fatal("it was applied")
	}
	busy.Store(false)
	for range 2 {
		if err := f.manager.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		f.manager = open(t, cfg)
		if got := f.read("a"); got != "run\n" {
			t.Fatalf("the project has %q", got)
		}
	}
	out := f.exec(t.Context(), sandbox.Command{Argv: []string{"true"}, Timeout: time.Minute})
	if out.err != nil || len(out.Changes) != 1 {
		t.Fatalf("told %+v %v", out.Changes, out.err)
	}
	if text, err := os.ReadFile(out.Changes[0].Old); err != nil || string(text) != "person\n" {
		t.Errorf("what it was: %q %v", text, err)
	}
	out.Release()
	if again := f.bash("true"); len(again.Changes) != 0 {
		t.Errorf("told twice: %+v", again.Changes)
	}
}
