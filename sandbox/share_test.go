//go:build linux

package sandbox_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/bothyd/bothy/sandbox"
)

// beside is another manager's fixture of the same run, as of a process that is about to
// take the place of the one before.
func (f *fixture) beside(cfg sandbox.Config) *fixture {
	f.t.Helper()
	return &fixture{t: f.t, manager: open(f.t, cfg), run: f.run}
}

// viewedConfig is the configuration of a manager whose commands work on views.
func viewedConfig(t *testing.T) sandbox.Config {
	t.Helper()
	needPodman(t)
	cfg := config(t, shortDir(t))
	cfg.View, cfg.Judge = buildView(t), judgeByName{}
	return cfg
}

// TestRunIsGivenUp: a command of a run that another manager has waits until that one lets
// go of it. The container is made anew; what was applied, what waits for an answer, what
// was not told yet, and the home are there.
func TestRunIsGivenUp(t *testing.T) {
	cfg := viewedConfig(t)
	old := newFixture(t, open(t, cfg))
	old.write("late", "the person's\n")
	out := old.bash("echo home >~/mark; echo tmp >/tmp/mark; echo free >free; echo one >asked")
	out.Release()
	old.waits("asked")

	next := old.beside(cfg)
	busy, goOn := make(chan struct{}), filepath.Join(old.run.RunDir, "home", "go-on")
	ended := make(chan outcome, 1)
	go func() {
		ended <- old.script("touch ~/busy; until [ -e ~/go-on ]; do sleep 0.05; done; echo two >asked; echo command >late")
		close(busy)
	}()
	eventually(t, "the command runs", func() bool { _, err := os.Stat(filepath.Join(old.run.RunDir, "home", "busy")); return err == nil })
	waited := make(chan outcome, 1)
	go func() { waited <- next.script("cat ~/mark free late asked; ! test -e /tmp/mark") }()
	released := make(chan error, 1)
	go func() { released <- old.manager.Release(t.Context(), old.run.RunID) }()
	select {
	case out := <-waited:
		t.Fatalf("it ran beside the old manager's command: %+v", out)
	case err := <-released:
		t.Fatalf("the run was given up under its command: %v", err)
	default:
	}
	if err := os.WriteFile(goOn, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	<-busy
	if err := <-released; err != nil {
		t.Fatal(err)
	}
	under := <-ended
	if under.err != nil || !slices.Equal(paths(under.Changes), []string{"late"}) {
		t.Fatalf("the command under way: %+v", under)
	}
	after := <-waited
	if after.err != nil || after.ExitCode != 0 || after.stdout != "home\nfree\ncommand\ntwo\n" {
		t.Fatalf("the command that waited: %q %+v", after.stdout, after)
	}
	next.waits("asked")
	if r := next.accept(under.Held...); len(r.Conflicts) != 0 || next.read("asked") != "two\n" {
		t.Errorf("what waited for an answer: %+v", r)
	}
	if err := old.manager.Release(t.Context(), old.run.RunID); err != nil {
		t.Errorf("of a run that it has not: %v", err)
	}
}

// TestUntoldIsToldByTheNextManager: what was applied late is told by the manager that has
// the run then.
func TestUntoldIsToldByTheNextManager(t *testing.T) {
	f, busy := lockedFixture(t)
	f.write("a", "the person's")
	busy.Store(true)
	failed := f.script("echo command > a")
	if failed.Release(); failed.err == nil {
		t.Fatalf("it was applied: %+v", failed.Result)
	}
	busy.Store(false)
	if _, err := f.manager.Prepare(t.Context(), f.run); err != nil { // it applies, and has nobody to tell
		t.Fatal(err)
	}
	if f.read("a") != "command\n" {
		t.Fatal("it is not applied")
	}
	next := f.beside(f.cfg)
	if err := f.manager.Release(t.Context(), f.run.RunID); err != nil {
		t.Fatal(err)
	}
	out := next.bash("true")
	if out.Release(); !slices.Equal(paths(out.Changes), []string{"a"}) {
		t.Errorf("told: %+v", out.Result)
	}
}

// TestManagerDiesBesideAnother: the container of a manager that dies while another one has
// the directory too is in that one's care, without a command of its run.
func TestManagerDiesBesideAnother(t *testing.T) {
	needPodman(t)
	dir := shortDir(t)
	cfg := config(t, dir)
	f := newFixture(t, nil)
	kill := startChild(t, cfg, f.run, "mkdir -p .bothy && echo evil >.bothy/config.hcl; echo ready; sleep 600")
	f.manager = open(t, cfg)
	if len(runners(t, dir)) != 1 {
		t.Fatal("no container")
	}
	kill()
	eventually(t, "what the command planted is taken back", func() bool { _, err := os.Lstat(f.path(".bothy")); return os.IsNotExist(err) })
	f.ok("true")
	if got := len(runners(t, dir)); got != 1 {
		t.Errorf("%d containers for one run", got)
	}
}
