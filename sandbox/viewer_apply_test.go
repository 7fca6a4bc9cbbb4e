//go:build linux

package sandbox

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// otherFileSystem is a folder of the test's own that no file of a temporary folder
// can be renamed into.
func otherFileSystem(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "bothy-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := sharedViewer(t).remove(context.Background(), dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// everywhere makes a test with a project beside its views and with one on another
// file system.
func everywhere(t *testing.T, test func(t *testing.T, project func() string)) {
	t.Helper()
	t.Run("here", func(t *testing.T) {
		test(t, func() string { return filepath.Join(t.TempDir(), "project") })
	})
	t.Run("elsewhere", func(t *testing.T) {
		test(t, func() string { return filepath.Join(otherFileSystem(t), "project") })
	})
}

// enterable are trees; where a command has closed folders, these are opened after
// their modes were read.
func enterable(t testing.TB, closed bool, dirs ...string) []map[string]string {
	t.Helper()
	var trees []map[string]string
	for _, dir := range dirs {
		if !closed {
			trees = append(trees, tree(t, dir))
			continue
		}
		modes, err := inNamespaces(t, dir, `find . -printf '%m %p\n' | LC_ALL=C sort -k2`)
		if err != nil {
			t.Fatal(modes, err)
		}
		if out, err := inNamespaces(t, dir, "chmod -R u+rwX ."); err != nil {
			t.Fatal(out, err)
		}
		found := tree(t, dir)
		found["modes"] = modes
		trees = append(trees, found)
	}
	return trees
}

// TestApplyingIsAsIfTheCommandHadRunInTheProject: what is applied is what the same
// command does to a copy of the project, again changes nothing, and back is what
// was before.
func TestApplyingIsAsIfTheCommandHadRunInTheProject(t *testing.T) {
	sharedViewer(t)
	everywhere(t, func(t *testing.T, project func() string) {
		for _, name := range slices.Sorted(maps.Keys(viewScripts)) {
			t.Run(name, func(t *testing.T) {
				f := newViewFixtureAt(t, sharedViewer(t), t.TempDir(), project(), viewProject)
				script := strings.ReplaceAll(viewScripts[name].script, "mkfifo keep/p; ", "")
				f.host("cp -a --no-preserve=links . ../copy; cd ../copy; " + script)
				copied := filepath.Join(filepath.Dir(f.spec.Project), "copy")
				before := tree(t, f.spec.Project)
				f.command(script)
				changes := f.list()
				steps := plan(changes)
				results := f.apply(steps)
				if len(steps) > 0 && states(results) != frame.ViewDone {
					t.Fatalf("got %.600q", fmt.Sprint(results))
				}
				if again := f.apply(steps); len(steps) > 0 && states(again) != frame.ViewAlready {
					t.Fatalf("again: %+v", again)
				}
				back := takeBack(steps, results, changes)
				for i := range back { // what was copied aside is another file
					if n := back[i].From; n != 0 {
						back[i].Upper = fileAt(t, filepath.Join(f.spec.Dir, "o", strconv.Itoa(n)))
					}
				}
				trees := enterable(t, strings.Contains(script, "chmod"), f.spec.Project, copied)
				sameTree(t, trees[0], trees[1])
				for i := range back {
					back[i].Lower.Changed = time.Time{} // that was of the modes
				}
				if undone := f.apply(back); len(back) > 0 && strings.Contains(states(undone), frame.ViewConflict) {
					t.Fatalf("back: %+v", undone)
				}
				got := tree(t, f.spec.Project)
				for _, tree := range []map[string]string{got, before} {
					for path := range tree {
						if strings.HasPrefix(path, "mode") || strings.HasPrefix(path, "closed") || path == "." {
							delete(tree, path) // their modes were changed here
						}
					}
				}
				sameTree(t, got, before)
			})
		}
	})
}

// fileAt is which file a path is.
func fileAt(t testing.TB, path string) viewIdentity {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil {
		t.Fatal(err)
	}
	st := info.Sys().(*syscall.Stat_t)
	return viewIdentity{Device: uint64(st.Dev), Inode: st.Ino}
}

// TestWhatAPersonChangedMeanwhileStays: each step of an apply finds that the
// project is not what was listed.
func TestWhatAPersonChangedMeanwhileStays(t *testing.T) {
	sharedViewer(t)
	const project = "mkdir -p d/e old; echo one | tee f d/f d/e/f old/f >/dev/null"
	everywhere(t, func(t *testing.T, project2 func() string) {
		for name, c := range map[string]struct{ command, person, reason string }{
			"written":             {"echo two >f", "echo mine >>f", "changed meanwhile"},
			"written unseen":      {"echo two >f", "echo eno >f; touch -d 2020-01-01 f", "changed meanwhile"},
			"replaced":            {"echo two >f", "echo mine >t; mv t f", "changed meanwhile"},
			"removed":             {"echo two >f", "rm f", "gone meanwhile"},
			"a link":              {"echo two >f", "ln -sf /etc/passwd f", "changed meanwhile"},
			"made":                {"echo two >n", "echo mine >n", "made there meanwhile"},
			"a folder made":       {"mkdir n; echo two >n/f", "mkdir n", "made there meanwhile"},
			"what goes, written":  {"rm f", "echo mine >>f", "changed meanwhile"},
			"what goes is gone":   {"rm f", "rm f", "gone meanwhile"},
			"a folder is another": {"rm -r old; mkdir old", "mv old away; mkdir old", "changed meanwhile"},
			"way gone":            {"echo two >d/e/f", "rm -r d/e", "gone, or is a link"},
			"way a link":          {"echo two >d/e/f", "mv d/e away; ln -s ../away d/e", "gone, or is a link"},
			"way a link, new":     {"echo two >d/e/n", "mv d/e away; ln -s /tmp d/e", "gone, or is a link"},
			"way a file":          {"echo two >d/e/n", "rm -r d/e; touch d/e", "gone, or is a link"},
			"mode, another":       {"chmod 700 d", "chmod 711 d", "changed meanwhile"},
		} {
			t.Run(name, func(t *testing.T) {
				f := newViewFixtureAt(t, sharedViewer(t), t.TempDir(), project2(), project)
				f.command(c.command)
				steps := plan(f.list())
				f.host(c.person)
				want := tree(t, f.spec.Project)
				for range 2 {
					results := f.apply(steps)
					if len(results) != 1 || results[0].State != frame.ViewConflict || !strings.Contains(results[0].Reason, c.reason) {
						t.Errorf("got %.600q", fmt.Sprint(results))
					}
					sameTree(t, tree(t, f.spec.Project), want)
				}
				if changes := f.list(); len(changes) == 0 && c.command+c.person != "rm frm f" {
					t.Error("the command's version is gone")
				}
			})
		}
	})
}

// TestAStepThatIsRefusedDoesNotEndTheOthers: what the system would refuse each time is
// a conflict with the system's reason, and the steps after it are made.
func TestAStepThatIsRefusedDoesNotEndTheOthers(t *testing.T) {
	sharedViewer(t)
	everywhere(t, func(t *testing.T, project func() string) {
		f := newViewFixtureAt(t, sharedViewer(t), t.TempDir(), project(), "echo one >f")
		f.command("echo two >f")
		steps := append([]viewStep{{Op: frame.StepMkdir, Path: strings.Repeat("n", 300), Mode: 0o755}}, plan(f.list())...)
		results := f.apply(steps)
		if len(results) != 2 || results[0].State != frame.ViewConflict || !results[0].Refused || results[0].Reason != "file name too long" || results[1].State != frame.ViewDone {
			t.Errorf("got %.600q", fmt.Sprint(results))
		}
		f.host("test $(cat f) = two")
	})
}

// TestWhatComesOutIsLookedAt: a person changes the project between the last look
// and the exchange.
func TestWhatComesOutIsLookedAt(t *testing.T) {
	sharedViewer(t)
	everywhere(t, func(t *testing.T, project func() string) {
		for name, c := range map[string]struct{ command, person, found string }{
			"replaced":       {"echo two >f", "echo mine >t; mv t f", "mine"},
			"written":        {"echo two >f", "echo mine >f", "mine"},
			"taken":          {"rm f", "echo mine >t; mv t f", "mine"},
			"put":            {"echo two >n", "echo mine >n; rm f; ln n f", "mine"},
			"swapped folder": {"rm f; mkdir f", "echo mine >t; mv t f", "mine"},
		} {
			t.Run(name, func(t *testing.T) {
				f := newViewFixtureAt(t, sharedViewer(t), t.TempDir(), project(), "echo one >f")
				f.command(c.command)
				steps := plan(f.list())
				at := 1 // the first failpoint is right before the exchange
				if strings.Contains(t.Name(), "elsewhere") && steps[0].Op != frame.StepTake {
					at = 3 // and where it is copied, after that
				}
				dir := t.TempDir()
				v := ownViewer(t, dir, "BOTHY_VIEW_STOP="+strconv.Itoa(at))
				done := make(chan []viewResult, 1)
				go func() {
					results, _ := v.apply(t.Context(), f.spec, steps)
					done <- results
				}()
				pid := stopped(t, dir)
				f.host(c.person)
				want := tree(t, f.spec.Project)
				if err := syscall.Kill(pid, syscall.SIGCONT); err != nil {
					t.Fatal(err)
				}
				results := <-done
				if len(results) != 1 || results[0].State != frame.ViewConflict {
					t.Errorf("got %.600q", fmt.Sprint(results))
				}
				for path := range want {
					if strings.HasPrefix(path, ".bothy-") {
						delete(want, path)
					}
				}
				sameTree(t, tree(t, f.spec.Project), want)
				if changes := f.list(); len(changes) == 0 {
					t.Error("the command's version is gone")
				}
			})
		}
	})
}

// stopped waits until a helper has stopped itself, and answers its pid.
func stopped(t testing.TB, dir string) int {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "pid"))
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	for {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if err != nil {
			t.Fatal(err)
		}
		if _, rest, _ := strings.Cut(string(stat), ") "); strings.HasPrefix(rest, "T") {
			return pid
		}
		time.Sleep(time.Millisecond)
	}
}

// TestAnApplyThatIsKilledIsMadeAgain: at every failpoint the helper dies, each path
// of the project is what it was or what it will be, and the same steps end where
// they would have.
func TestAnApplyThatIsKilledIsMadeAgain(t *testing.T) {
	sharedViewer(t)
	const (
		project = "mkdir -p gone other/d; echo one | tee f gone/f other/f other/d/f >/dev/null; ln f twin"
		command = "echo two >f; echo two >twin; rm -r gone; rm -r other; mkdir other; echo two >other/g; mkdir -p new/d; echo two | tee new/f new/d/f >/dev/null; chmod 700 ."
	)
	everywhere(t, func(t *testing.T, place func() string) {
		for n := 1; ; n++ {
			f := newViewFixtureAt(t, sharedViewer(t), t.TempDir(), place(), project)
			f.host("cp -a --no-preserve=links . ../copy; cd ../copy; " + command)
			before, want := tree(t, f.spec.Project), tree(t, filepath.Join(filepath.Dir(f.spec.Project), "copy"))
			f.command(command)
			steps := plan(f.list())
			v := ownViewer(t, t.TempDir(), "BOTHY_VIEW_KILL="+strconv.Itoa(n))
			results, err := v.apply(t.Context(), f.spec, steps)
			got := tree(t, f.spec.Project)
			if got["new"] != "" && (got["new/f"] == "" || got["new/d/f"] == "") {
				t.Errorf("killed at %d: a new folder is there in part", n)
			}
			for _, s := range steps {
				if s.Op != frame.StepTake && s.Op != frame.StepPut && got[s.Path] == "" {
					t.Errorf("killed at %d: %s is not there", n, s.Path)
				}
				for path := range got {
					if path != s.Path && !strings.HasPrefix(path, s.Path+"/") {
						continue
					}
					if got[path] != before[path] && got[path] != want[path] {
						t.Errorf("killed at %d: %s is %q", n, path, got[path])
					}
				}
			}
			if err == nil && states(results) == frame.ViewDone && n > 2*len(steps) {
				return // it never came to die
			}
			if Code(err) != CodeLost {
				t.Fatalf("killed at %d: got %v, %+v", n, err, results)
			}
			results = f.apply(steps)
			if states := states(results); strings.Contains(states, frame.ViewConflict) {
				t.Errorf("killed at %d: again: %+v", n, results)
			}
			sameTree(t, tree(t, f.spec.Project), want)
		}
	})
}

// TestWhatMustNotReachTheProject: what would give a file more than its owner has,
// what the overlay notes, and what is no file.
func TestWhatMustNotReachTheProject(t *testing.T) {
	sharedViewer(t)
	everywhere(t, func(t *testing.T, project func() string) {
		f := newViewFixtureAt(t, sharedViewer(t), t.TempDir(), project(), "echo one >f; mkdir d; echo one >d/f; echo one >c")
		f.command(`echo two >f; chmod 6755 f
mkdir -p n/m; cp /bin/true n/suid; chmod 4755 n/suid; mkfifo n/p; mv d/f n/m/moved; chmod 3777 n/m
perl -e 'use IO::Socket::UNIX; IO::Socket::UNIX->new(Local => "n/s", Listen => 1)' || true
truncate -s 1G n/sparse; echo x >>n/sparse; ln n/suid n/twin; touch -d 2020-02-02 n/suid
echo two >c`)
		if err := unix.Lsetxattr(filepath.Join(f.spec.Dir, "u", "f"), "user.overlay.overlay.opaque", []byte("y"), 0); err != nil {
			t.Fatal(err)
		}
		if err := unix.Lsetxattr(filepath.Join(f.spec.Dir, "u", "f"), "user.mine", []byte("kept"), 0); err != nil {
			t.Fatal(err)
		}
		if results := f.apply(plan(f.list())); states(results) != frame.ViewDone {
			t.Fatalf("got %.600q", fmt.Sprint(results))
		}
		modes := map[string]os.FileMode{"f": 0o755, "n/suid": 0o755, "n/m": os.ModeDir | os.ModeSticky | os.ModeSetgid | 0o777}
		for path, mode := range modes {
			info, err := os.Lstat(filepath.Join(f.spec.Project, path))
			if err != nil || info.Mode() != mode {
				t.Errorf("%s: got %v %v, want %v", path, info.Mode(), err, mode)
			}
		}
		for path := range tree(t, f.spec.Project) {
			buf := make([]byte, 4096)
			n, err := unix.Llistxattr(filepath.Join(f.spec.Project, path), buf)
			if want := map[string]string{"f": "user.mine\x00"}[path]; err != nil || string(buf[:n]) != want {
				t.Errorf("%s has %q: %v", path, buf[:n], err)
			}
		}
		for _, path := range []string{"n/p", "n/s"} {
			if _, err := os.Lstat(filepath.Join(f.spec.Project, path)); err == nil {
				t.Errorf("%s is there", path)
			}
		}
		var st unix.Stat_t
		if err := unix.Lstat(filepath.Join(f.spec.Project, "n/sparse"), &st); err != nil || st.Size != 1<<30+2 || st.Blocks*512 > 1<<20 {
			t.Errorf("the file with a hole: %v, %d bytes in %d blocks", err, st.Size, st.Blocks)
		}
		info, err := os.Lstat(filepath.Join(f.spec.Project, "n/suid"))
		if err != nil || info.ModTime().UTC().Format(time.DateOnly) != "2020-02-02" {
			t.Errorf("its time is %v: %v", info.ModTime(), err)
		}
	})
}

// randomScript does things to a few paths. What fails, fails everywhere alike.
func randomScript(r *rand.Rand, n int) string {
	path := func() string {
		p := string("abcd"[r.IntN(4)])
		for r.IntN(2) == 0 && len(p) < 5 {
			p += "/" + string("abcd"[r.IntN(4)])
		}
		return p
	}
	lines := []string{"exec 2>/dev/null", "set +e"}
	for i := range n {
		one, other := path(), path()
		lines = append(lines, []string{
			fmt.Sprintf("mkdir -p %s", one),
			fmt.Sprintf("mkdir -p %s; echo %d >%s/%c", one, i, one, "abcd"[r.IntN(4)]),
			fmt.Sprintf("echo %d >%s", i, one),
			fmt.Sprintf("echo %d >>%s", i, one),
			fmt.Sprintf("rm -rf %s", one),
			fmt.Sprintf("rm -rf %s; mkdir %s; echo %d >%s/a", one, one, i, one),
			fmt.Sprintf("mv -T %s %s", one, other),
			fmt.Sprintf("ln -sfn %s %s", other, one),
			fmt.Sprintf("ln %s %s", one, other),
			fmt.Sprintf("chmod %s %s", []string{"700", "755", "711", "500"}[r.IntN(4)], one),
		}[r.IntN(10)])
	}
	return strings.Join(append(lines, "true"), "\n")
}

// TestRandomCommandsAreAppliedThroughAKill: whatever a command does, and wherever
// the helper dies, the project becomes what it would have, and again what it was.
func TestRandomCommandsAreAppliedThroughAKill(t *testing.T) {
	sharedViewer(t)
	r := seeded(t)
	everywhere(t, func(t *testing.T, project func() string) {
		for range 15 {
			before, command := randomScript(r, 15), randomScript(r, 12)
			f := newViewFixtureAt(t, sharedViewer(t), t.TempDir(), project(), before)
			copied := filepath.Join(filepath.Dir(f.spec.Project), "copy")
			f.host("cp -a --no-preserve=links . ../copy")
			if out, err := inNamespaces(t, copied, command); err != nil {
				t.Fatal(out, err)
			}
			was := tree(t, f.spec.Project)
			f.command(command)
			changes := f.list()
			steps := plan(changes)
			dying := ownViewer(t, t.TempDir(), "BOTHY_VIEW_KILL="+strconv.Itoa(1+r.IntN(5*len(steps)+1)))
			if _, err := dying.apply(t.Context(), f.spec, steps); err != nil && Code(err) != CodeLost {
				t.Fatal(err)
			}
			results := f.apply(steps)
			if strings.Contains(states(results), frame.ViewConflict) {
				t.Errorf("got %.600q", fmt.Sprint(results))
			}
			sameTree(t, tree(t, f.spec.Project), tree(t, copied))
			back := takeBack(steps, results, changes)
			for i := range back {
				if n := back[i].From; n != 0 {
					back[i].Upper = fileAt(t, filepath.Join(f.spec.Dir, "o", strconv.Itoa(n)))
				}
			}
			if undone := f.apply(back); strings.Contains(states(undone), frame.ViewConflict) {
				t.Errorf("back: %.600q", fmt.Sprint(undone))
			}
			sameTree(t, tree(t, f.spec.Project), was)
			if t.Failed() {
				t.Fatalf("the project was made by\n%s\nand changed by\n%s", before, command)
			}
		}
	})
}

// seeded is a source of chance that BOTHY_SEED repeats.
func seeded(t *testing.T) *rand.Rand {
	t.Helper()
	seed := rand.Uint64()
	if text := os.Getenv("BOTHY_SEED"); text != "" {
		var err error
		if seed, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatalf("BOTHY_SEED: %v", err)
		}
	}
	t.Logf("BOTHY_SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}
