//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk/protect"
)

// judgeByName refuses paths with "refused" in their name and those that the run was not given, and asks about those
// with "asked" in it and about what is open to write.
type judgeByName struct{}

func (judgeByName) Rule(_, _ string, writes []string, changes []sandbox.Change, _ sandbox.Readers) []sandbox.Ruling {
	out := make([]sandbox.Ruling, len(changes))
	for i, c := range changes {
		switch {
		case strings.Contains(c.Path, "refused"):
			out[i] = sandbox.Ruling{Class: sandbox.Refused, Reason: "its name says so"}
		case len(writes) > 0 && !slices.Contains(writes, c.Path):
			out[i] = sandbox.Ruling{Class: sandbox.Refused, Reason: "it was not given"}
		case c.Busy:
			out[i] = sandbox.Ruling{Class: sandbox.Asked, Reason: "it is open"}
		case strings.Contains(c.Path, "asked"):
			out[i] = sandbox.Ruling{Class: sandbox.Asked, Reason: "its name says so"}
		case strings.Contains(c.Path, "dropped"):
			out[i] = sandbox.Ruling{Class: sandbox.Dropped}
		case strings.Contains(c.Path, "spare"):
			out[i] = sandbox.Ruling{Spare: true}
		}
	}
	return out
}

func buildView(t testing.TB) string {
	t.Helper()
	rig.Lock()
	defer rig.Unlock()
	if rig.view == "" {
		rig.view = build(t, "./view", filepath.Join(rig.dir, "bothy-view"))
	}
	return rig.view
}

// viewFixture is a run whose commands work on views, of a manager that tests share.
func viewFixture(t testing.TB) *fixture {
	t.Helper()
	needPodman(t)
	view, runner := buildView(t), buildRunner(t)
	rig.Lock()
	defer rig.Unlock()
	if rig.viewed == nil {
		m, err := sandbox.Open(context.Background(), sandbox.Config{
			Dir: filepath.Join(rig.dir, "v"), StateDir: filepath.Join(rig.dir, "views"), Instance: "viewed", Runner: runner, View: view,
			Protector: protect.Rules{}, Judge: judgeByName{},
		}, hclog.New(&hclog.LoggerOptions{Level: hclog.Error}))
		if err != nil {
			t.Fatalf("open: %v", err)
		}
		rig.viewed = m
	}
	return newFixture(t, rig.viewed)
}

// script runs a script; unlike bash it may be called from any goroutine.
func (f *fixture) script(script string) outcome {
	return f.exec(f.t.Context(), sandbox.Command{Argv: []string{"bash", "-c", script}, Timeout: time.Minute})
}

// contents is all that lies in the project: files with their contents, folders as "/",
// links with their targets.
func (f *fixture) contents() map[string]string {
	f.t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(f.run.Project, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == f.run.Project {
			return err
		}
		name, _ := filepath.Rel(f.run.Project, path)
		switch {
		case d.IsDir():
			all[name] = "/"
		case d.Type()&os.ModeSymlink != 0:
			all[name], err = os.Readlink(path)
		default:
			var text []byte
			text, err = os.ReadFile(path)
			all[name] = string(text)
		}
		return err
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

func paths(changes []sandbox.Change) (all []string) {
	for _, c := range changes {
		all = append(all, c.Path)
	}
	slices.Sort(all)
	return all
}

// TestViewAppliesWhatIsFree: a command works on a view, and what it changed is in
// the project when it has ended.
func TestViewAppliesWhatIsFree(t *testing.T) {
	f := viewFixture(t)
	f.write("a", "one")
	f.write("b", "one")
	f.write("d/x", "x")
	f.write("d/y", "y")
	out := f.bash("cat a; echo two > a; rm b; mkdir n; echo new > n/f; chmod 700 d; rm d/x; ln -s a l; mkfifo pipe")
	if out.stdout != "one" || out.ExitCode != 0 || !out.Viewed {
		t.Fatalf("%+v", out)
	}
	want := map[string]string{"a": "two\n", "d": "/", "d/y": "y", "n": "/", "n/f": "new\n", "l": "a"}
	if got := f.contents(); !mapsEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := paths(out.Changes); !slices.Equal(got, []string{"a", "b", "d", "d/x", "l", "n"}) {
		t.Errorf("told %q", got)
	}
	for _, c := range out.Changes {
		if c.Path == "a" {
			if old, err := os.ReadFile(c.Old); err != nil || string(old) != "one" {
				t.Errorf("what a was: %q %v", old, err)
			}
		}
	}
	if out := f.bash("ls; cat n/f"); out.stdout != "a\nd\nl\nn\nnew\n" || len(out.Changes) != 0 {
		t.Errorf("the next one: %+v", out)
	}
}

func mapsEqual(a, b map[string]string) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		if w, ok := b[k]; !ok || v != w {
			return false
		}
	}
	return true
}

// TestViewJudges: what is refused is not applied and kept aside, what is asked is
// held, and later commands of the run see it.
func TestViewJudges(t *testing.T) {
	f := viewFixture(t)
	f.write("asked", "one")
	out := f.bash("echo no > refused; echo two > asked; mkdir -p n/asked.d; echo x > n/asked.d/f; echo y > n/free; mkdir g; echo z > g/dropped; echo w > g/w")
	want := map[string]string{"asked": "one", "n": "/", "n/free": "y\n", "g": "/", "g/w": "w\n"}
	if got := f.contents(); !mapsEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(out.Violations) != 1 || out.Violations[0].Path != "refused" || out.Violations[0].Action != sandbox.ActionRefused {
		t.Errorf("violations %+v", out.Violations)
	} else if kept, err := os.ReadFile(out.Violations[0].Kept); err != nil || string(kept) != "no\n" {
		t.Errorf("kept %q %v", kept, err)
	}
	if len(out.Held) != 2 || out.Held[0].Path != "asked" || out.Held[1].Path != "n/asked.d" {
		t.Fatalf("held %+v", out.Held)
	}
	if got := sandbox.HeldPaths(f.run.RunDir); !slices.Equal(got, []string{"asked", "n/asked.d"}) {
		t.Errorf("held paths %q", got)
	}
	if got := f.ok("cat asked n/asked.d/f; ls"); got != "two\nx\nasked\ng\nn" {
		t.Errorf("a later command sees %q", got)
	}
	r, err := f.manager.Apply(t.Context(), f.run, []sandbox.Agreed{{Path: "asked", Digest: out.Held[0].Digest}, {Path: "n/asked.d", Digest: "other"}})
	if err != nil || !slices.Equal(paths(r.Changes), []string{"asked"}) || len(r.Conflicts) != 1 || r.Conflicts[0].Path != "n/asked.d" {
		t.Fatalf("apply: %+v %v", r, err)
	}
	want["asked"] = "two\n"
	if got := f.contents(); !mapsEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := sandbox.HeldPaths(f.run.RunDir); !slices.Equal(got, []string{"n/asked.d"}) {
		t.Errorf("held paths %q", got)
	}
	if err := f.manager.Reset(t.Context(), f.run); err != nil {
		t.Fatal(err)
	}
	if got := sandbox.HeldPaths(f.run.RunDir); len(got) != 0 {
		t.Errorf("after a reset there wait %q", got)
	}
	if got := f.ok("cat asked; ls n"); got != "two\nfree" {
		t.Errorf("after a reset a command sees %q", got)
	}
}

// TestViewAsksAboutOpenFiles: what a process of the host has open to write is not
// replaced under it; what it reads is.
func TestViewAsksAboutOpenFiles(t *testing.T) {
	f := viewFixture(t)
	for _, name := range []string{"log", "database", "read", "closed"} {
		f.write(name, "before")
	}
	for name, flag := range map[string]int{"log": os.O_WRONLY | os.O_APPEND, "database": os.O_RDWR, "read": os.O_RDONLY} {
		file, err := os.OpenFile(f.path(name), flag, 0)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = file.Close() })
	}
	out := f.bash("rm log; for f in database read closed; do echo run > $f; done")
	want := map[string]string{"log": "before", "database": "before", "read": "run\n", "closed": "run\n"}
	if got := f.contents(); !mapsEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(out.Held) != 2 || out.Held[0].Path != "database" || out.Held[1].Path != "log" || len(out.Conflicts) != 0 {
		t.Errorf("held %+v, conflicts %+v", out.Held, out.Conflicts)
	}
	if out.Held[1].Bytes != int64(len("before")) {
		t.Errorf("of the log %d bytes go", out.Held[1].Bytes)
	}
}

// TestViewConflict: what the person changed while a command ran stays, and the
// command's version is kept aside.
func TestViewConflict(t *testing.T) {
	f := viewFixture(t)
	for _, name := range []string{"written", "replaced", "removed", "gone", "whole/x", "other"} {
		f.write(name, "before")
	}
	done := make(chan outcome)
	go func() {
		done <- f.script("for f in written replaced removed other new; do echo run > $f; done; rm gone; rm -r whole; touch $HOME/ready; until test -e $HOME/go; do sleep 0.02; done")
	}()
	home := filepath.Join(f.run.RunDir, "home")
	eventually(t, "the command has written", func() bool { _, err := os.Stat(filepath.Join(home, "ready")); return err == nil })
	f.write("written", "person")
	f.write("replaced.new", "person")
	f.write("gone", "person")
	f.write("whole/y", "person")
	f.write("new", "person")
	for _, err := range []error{
		os.Rename(f.path("replaced.new"), f.path("replaced")), os.Remove(f.path("removed")),
		os.WriteFile(filepath.Join(home, "go"), nil, 0o600),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	out := <-done
	if out.err != nil {
		t.Fatal(out.err)
	}
	want := map[string]string{"written": "person", "replaced": "person", "gone": "person", "whole": "/", "whole/x": "before", "whole/y": "person", "new": "person", "other": "run\n"}
	if got := f.contents(); !mapsEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	var conflicts []string
	for _, c := range out.Conflicts {
		conflicts = append(conflicts, c.Path)
		if c.Path == "written" {
			if kept, err := os.ReadFile(c.Kept); err != nil || string(kept) != "run\n" {
				t.Errorf("kept %q %v", kept, err)
			}
		}
	}
	if slices.Sort(conflicts); !slices.Equal(conflicts, []string{"gone", "new", "removed", "replaced", "whole", "written"}) {
		t.Errorf("conflicts %q", conflicts)
	}
}

// TestViewShowsWhatWasLookedAt: a file that somebody replaced after a command had
// looked at it stays as it was until the next command, and inotify tells the command of
// its own changes and not of those.
func TestViewShowsWhatWasLookedAt(t *testing.T) {
	f := viewFixture(t)
	f.copyIn(attackBinary(t), "attack")
	f.write("seen", "before\n")
	done := make(chan outcome)
	go func() { done <- f.script("cat seen; ./attack can notify seen $HOME/ready $HOME/go; cat seen") }()
	home := filepath.Join(f.run.RunDir, "home")
	eventually(t, "the command has looked", func() bool { _, err := os.Stat(filepath.Join(home, "ready")); return err == nil })
	f.write("new", "after\n")
	if err := errors.Join(os.Rename(f.path("new"), f.path("seen")), os.WriteFile(filepath.Join(home, "go"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if out := <-done; out.err != nil || out.stdout != "before\nof others 0, of its own 1\nbefore\n" {
		t.Errorf("got %q %q %v", out.stdout, out.stderr, out.err)
	}
	if got := f.ok("cat seen"); got != "after" {
		t.Errorf("the next command sees %q", got)
	}
}

// TestQuotaCountsAView: what a command changes in its view counts, and what the
// project has does not.
func TestQuotaCountsAView(t *testing.T) {
	f := viewFixture(t)
	f.run.Limits = &sandbox.Limits{Quota: 4 * mb}
	f.write("large", strings.Repeat("x", 6*mb))
	if out := f.bash("cat large >/dev/null; echo x >~/small"); out.Overflow != nil {
		t.Errorf("the project counts: %+v", out.Overflow)
	}
	out := f.bash("head -c 6M /dev/zero >made; sleep 60")
	if out.Overflow == nil || !out.Overflow.Killed || out.Overflow.Used < 6*mb {
		t.Errorf("got %+v %+v", out.Result, out.Overflow)
	}
	if out := f.bash("echo y >~/small"); out.Overflow != nil {
		t.Errorf("what was applied counts: %+v", out.Overflow)
	}
}

// TestViewTakesItsOwnChangesForOld: what one command changed is no conflict to
// the one that follows at once.
func TestViewTakesItsOwnChangesForOld(t *testing.T) {
	f := viewFixture(t)
	for i := range 30 {
		out := f.bash(fmt.Sprintf("echo %d >f", i))
		if text, err := os.ReadFile(f.path("f")); err != nil || string(text) != fmt.Sprintln(i) || len(out.Conflicts) != 0 {
			t.Fatalf("command %d: %q %v %+v", i, text, err, out.Conflicts)
		}
	}
}

// TestViewEnds: a command that fails, or whose time is up, is applied; one that a
// person aborted is not, and what it changed is kept.
func TestViewEnds(t *testing.T) {
	f := viewFixture(t)
	if out := f.bash("echo x > failed; exit 3"); out.ExitCode != 3 || len(out.Changes) != 1 {
		t.Errorf("failed: %+v", out)
	}
	out := f.exec(t.Context(), sandbox.Command{Argv: []string{"bash", "-c", "echo x > late; sleep 60"}, Timeout: 500 * time.Millisecond})
	if !out.TimedOut || len(out.Changes) != 1 {
		t.Errorf("late: %+v", out)
	}
	if out := f.bash("echo x > killed; kill -9 $$"); out.Signal != "SIGKILL" || len(out.Changes) != 1 { // as for want of memory
		t.Errorf("killed: %+v", out)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		ready := filepath.Join(f.run.RunDir, "home", "ready")
		for {
			if _, err := os.Stat(ready); err == nil {
				cancel()
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	out = f.exec(ctx, sandbox.Command{Argv: []string{"bash", "-c", "echo x > aborted; touch $HOME/ready; sleep 60"}, Timeout: time.Minute})
	if out.err == nil || len(out.Changes) != 0 || out.Kept == "" {
		t.Fatalf("aborted: %+v", out)
	}
	if kept, err := os.ReadFile(filepath.Join(out.Kept, "aborted")); err != nil || string(kept) != "x\n" {
		t.Errorf("kept %q %v", kept, err)
	}
	if got := f.contents(); !mapsEqual(got, map[string]string{"failed": "x\n", "killed": "x\n", "late": "x\n"}) {
		t.Errorf("got %q", got)
	}
	if err := f.manager.Reset(t.Context(), f.run); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(out.Kept); err == nil {
		t.Error("a reset leaves what was kept")
	}
	f.ok("test -e failed")
}

// TestViewTwoRuns: two runs work on one project at the same time.
func TestViewTwoRuns(t *testing.T) {
	f := viewFixture(t)
	g := *f
	g.run.RunID, g.run.RunDir = f.run.RunID+"-2", f.run.RunDir+"-2"
	t.Cleanup(func() { _ = g.manager.Drop(context.Background(), g.run.RunID) })
	f.write("shared", "x")
	var both sync.WaitGroup
	for _, one := range []*fixture{f, &g} {
		name := map[bool]string{true: "one", false: "two"}[one == f]
		both.Go(func() {
			for i := range 10 {
				one.ok(fmt.Sprintf("cat shared >/dev/null; echo %d > %s-%d; mkdir -p %s; echo %d > %s/f", i, name, i, name, i, name))
			}
		})
	}
	both.Wait()
	if got := f.contents(); len(got) != 1+2*12 || got["one/f"] != "9\n" || got["two/f"] != "9\n" {
		t.Errorf("got %q", got)
	}
}

// TestViewSiblings: of two runs at work on one file the one that ends first has it, the other's version is kept aside and
// named where it is another and anybody misses it, and what a run was not given to change it does not change.
func TestViewSiblings(t *testing.T) {
	f := viewFixture(t)
	g := *f
	g.run.RunID, g.run.RunDir = f.run.RunID+"-2", f.run.RunDir+"-2"
	t.Cleanup(func() { _ = g.manager.Drop(context.Background(), g.run.RunID) })
	f.run.Writes, g.run.Writes = []string{"both", "new", "spare", "same", "mode", "mine"}, []string{"both", "new", "spare", "same", "mode", "yours"}
	f.write("both", "before")
	f.write("spare", "before")
	f.write("yours", "before")
	done := make(chan outcome)
	go func() {
		done <- f.script("for n in both new spare mine yours; do echo first > $n; done; echo same > same; echo same > mode; chmod 700 mode; touch $HOME/ready; until test -e $HOME/go; do sleep 0.02; done")
	}()
	home := filepath.Join(f.run.RunDir, "home")
	eventually(t, "the command has written", func() bool { _, err := os.Stat(filepath.Join(home, "ready")); return err == nil })
	if out := g.bash("for n in both new spare yours mine; do echo second > $n; done; echo same > same; echo same > mode"); len(out.Violations) != 1 || out.Violations[0].Path != "mine" {
		t.Errorf("the second was told %+v", out.Violations)
	}
	if err := os.WriteFile(filepath.Join(home, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	out := <-done
	if out.err != nil {
		t.Fatal(out.err)
	}
	want := map[string]string{"both": "second\n", "new": "second\n", "spare": "second\n", "same": "same\n", "mode": "same\n", "yours": "second\n", "mine": "first\n"}
	if got := f.contents(); !mapsEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(out.Conflicts) != 3 || out.Conflicts[0].Path != "both" || out.Conflicts[1].Path != "mode" || out.Conflicts[2].Path != "new" || len(out.Violations) != 1 || out.Violations[0].Path != "yours" {
		t.Fatalf("conflicts %+v, violations %+v", out.Conflicts, out.Violations)
	}
	for _, kept := range []string{out.Conflicts[0].Kept, out.Conflicts[2].Kept, out.Violations[0].Kept} {
		if text, err := os.ReadFile(kept); err != nil || string(text) != "first\n" {
			t.Errorf("kept %q %v", text, err)
		}
	}
}

// TestViewMakesAFolderToo: a folder that two runs make is one folder with what each put there, also where the other's
// was applied while this one waited for its turn.
func TestViewMakesAFolderToo(t *testing.T) {
	needPodman(t)
	cfg := config(t, shortDir(t))
	cfg.View, cfg.Judge = buildView(t), judgeByName{}
	var theirs func()
	cfg.Lock = func(context.Context, uint64, uint64) (func(), error) {
		theirs()
		return func() {}, nil
	}
	f := newFixture(t, open(t, cfg))
	theirs = func() {
		f.write("out/sub/yours", "second")
		f.write("out/both", "second")
	}
	out := f.bash("mkdir -p out/sub/deep; for n in sub/mine sub/deep/mine both; do echo first > out/$n; done")
	want := map[string]string{"out": "/", "out/sub": "/", "out/sub/deep": "/", "out/sub/deep/mine": "first\n", "out/sub/mine": "first\n", "out/sub/yours": "second", "out/both": "second"}
	if got := f.contents(); !mapsEqual(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(out.Conflicts) != 1 || out.Conflicts[0].Path != "out/both" {
		t.Errorf("conflicts %+v", out.Conflicts)
	}
}

// TestViewSettlesLater: what a command changed whose manager died is applied when
// the command had come to its end, and only kept when it was cut.
func TestViewSettlesLater(t *testing.T) {
	s := newViewed(t)
	wait := "echo ready; until test -e $HOME/go; do sleep 0.02; done; "
	s.add("ended", false, shell("echo one > f; "+wait+"echo two > f; exit 3"))
	s.add("cut", false, shell("echo one > f; echo ready; sleep 987701"))
	s.add("dead", false, shell("echo one > f; "+wait+"echo two > f"))
	_, kill := settler(t, s.job)
	kill()
	for _, r := range s.job.Runs {
		if err := os.WriteFile(filepath.Join(r.Run.RunDir, "home", "go"), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "every command that can has ended", func() bool { return len(processes(t, "until test -e")) == 0 })
	if err := os.RemoveAll(s.run("dead").RunDir); err != nil { // its container is not taken over
		t.Fatal(err)
	}
	m := open(t, s.cfg)
	for range 2 { // the answer stays the same
		e := ask(m, "ended", "ended-0")
		if e.Code != "" || e.Result.ExitCode != 3 || !slices.Equal(paths(e.Result.Changes), []string{"f"}) {
			t.Errorf("ended: %+v", e)
		}
		if e := ask(m, "cut", "cut-0"); e.Code != sandbox.CodeLost {
			t.Errorf("cut: %+v", e)
		}
	}
	for run, want := range map[string]string{"ended": "two\n", "cut": "", "dead": ""} {
		text, err := os.ReadFile(filepath.Join(s.run(run).Project, "f"))
		if string(text) != want || (err != nil) != (want == "") {
			t.Errorf("%s: %q %v", run, text, err)
		}
	}
}

// TestOnlyOnAView: a command that may run on a view only is not run where there is
// none, in the project itself least of all.
func TestOnlyOnAView(t *testing.T) {
	f := viewFixture(t)
	f.run.Viewed = true
	if out := f.bash("echo x > a"); out.ExitCode != 0 || !out.Viewed {
		t.Fatalf("%+v", out)
	}
	f.run.RunID, f.run.Direct = f.run.RunID+"-direct", true
	_, err := f.manager.Exec(t.Context(), f.run, sandbox.Command{Argv: []string{"bash", "-c", "echo x > b"}, Timeout: time.Minute}, nil)
	if sandbox.Code(err) != sandbox.CodeNoView {
		t.Errorf("got %v", err)
	}
	if all := f.contents(); len(all) != 1 {
		t.Errorf("the project has %q", all)
	}
}

// TestRetainedFolder: what a command replaced stays until the run is reset where it is the
// only copy, whatever manager comes; without that the next command removes it.
func TestRetainedFolder(t *testing.T) {
	f := viewFixture(t)
	f.write("a", "work")
	f.write("b", "work")
	first := f.bash("echo new > a")
	folder, err := first.Retain()
	if err != nil || len(first.Changes) != 1 || !strings.HasPrefix(first.Changes[0].Old, folder+"/") {
		t.Fatalf("%+v in %s, %v", first.Changes, folder, err)
	}
	second := f.bash("echo new > b")
	first.Release() // as when this manager had ended
	second.Release()
	f.bash("true").Release()
	if text, err := os.ReadFile(first.Changes[0].Old); string(text) != "work" {
		t.Errorf("the only copy is %q, %v", text, err)
	}
	if _, err := os.Lstat(second.Changes[0].Old); err == nil {
		t.Error("what is needed no more stays")
	}
	if err := f.manager.Reset(t.Context(), f.run); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(folder); err == nil {
		t.Error("it stays after a reset")
	}
}
