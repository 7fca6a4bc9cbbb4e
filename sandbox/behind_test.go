//go:build linux

package sandbox_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/bothyd/bothy/sandbox"
)

// ownViewFixture is a run on views, of a manager of the test's own.
func ownViewFixture(t *testing.T) (*fixture, sandbox.Config) {
	t.Helper()
	needPodman(t)
	cfg := config(t, shortDir(t))
	cfg.View, cfg.Judge = buildView(t), judgeByName{}
	return newFixture(t, open(t, cfg)), cfg
}

// TestAnsweredBeforeItsViewGoes: nobody waits until the view of a command that changed
// nothing is taken away, but the next command and the manager's end do.
func TestAnsweredBeforeItsViewGoes(t *testing.T) {
	f, _ := ownViewFixture(t)
	goes, begun, left := make(chan struct{}), make(chan struct{}, 9), new(atomic.Int32)
	f.manager.BeforeLeave(func() {
		begun <- struct{}{}
		<-goes
		left.Add(1)
	})
	f.ok("true")
	<-begun
	if left.Load() != 0 {
		t.Fatal("it was waited for")
	}
	next := make(chan outcome)
	go func() { next <- f.script("test ! -e new && touch new") }()
	goes <- struct{}{}
	if out := <-next; out.err != nil || out.ExitCode != 0 || left.Load() != 1 {
		t.Fatalf("the next command, with %d left: %+v %v", left.Load(), out.Result, out.err)
	}
	f.ok("true")
	<-begun
	closed := make(chan error)
	go func() {
		err := f.manager.Close(context.Background())
		if left.Load() != 2 {
			t.Error("the manager ended before the view was taken away")
		}
		closed <- err
	}()
	goes <- struct{}{}
	if err := <-closed; err != nil {
		t.Fatal(err)
	}
}

// TestHelperDiesBehindAResult: a view that could not be taken away behind the result of
// its command is taken away before the next one has its own.
func TestHelperDiesBehindAResult(t *testing.T) {
	needPodman(t)
	dir := shortDir(t)
	cfg := config(t, dir)
	cfg.View, cfg.Judge = filepath.Join(dir, "bothy-view"), judgeByName{}
	helper, err := os.ReadFile(buildView(t))
	if err == nil {
		err = os.WriteFile(cfg.View, helper, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := newFixture(t, open(t, cfg))
	killed := make(chan int, 9)
	f.manager.BeforeLeave(func() {
		found := processes(t, cfg.View)
		for pid := range found {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
		killed <- len(found)
	})
	f.write("a", "person")
	for range 2 {
		if got := f.ok("cat a"); got != "person" {
			t.Fatalf("the command saw %q", got)
		}
		if n := <-killed; n == 0 {
			t.Fatal("there was no helper to kill")
		}
	}
	if out := f.bash("echo run > a"); len(out.Changes) != 1 || f.read("a") != "run\n" {
		t.Errorf("the project has %q; %+v", f.read("a"), out.Result)
	}
	left, err := filepath.Glob(filepath.Join(cfg.StateDir, "views", "*", "*", "w"))
	if err != nil || len(left) > 2 { // that of the last command, and the one that waits for the next
		t.Errorf("%q stay, %v", left, err)
	}
}
