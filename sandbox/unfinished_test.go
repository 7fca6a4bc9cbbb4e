//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bothyd/bothy/sandbox"
)

// lockedFixture is a run on views, of a project that is busy while the answer says so:
// then nothing can be applied to it.
func lockedFixture(t *testing.T) (*fixture, *atomic.Bool) {
	t.Helper()
	needPodman(t)
	cfg := config(t, shortDir(t))
	cfg.View, cfg.Judge = buildView(t), judgeByName{}
	busy := new(atomic.Bool)
	cfg.Lock = func(context.Context, uint64, uint64) (func(), error) {
		if busy.Load() {
			return nil, errors.New("something else changes the project")
		}
		return func() {}, nil
	}
	f := newFixture(t, open(t, cfg))
	f.cfg = cfg
	return f, busy
}

func (f *fixture) read(name string) string {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.run.Project, name))
	if err != nil {
		f.t.Fatal(err)
	}
	return string(text)
}

// TestResetRemovesWhatCannotBeFinished: a plan that cannot be carried out keeps the
// run's commands from running, but not after a reset.
func TestResetRemovesWhatCannotBeFinished(t *testing.T) {
	f, busy := lockedFixture(t)
	f.write("a", "before")
	busy.Store(true)
	if out := f.script("echo command > a"); out.err == nil {
		t.Fatalf("it was applied: %+v", out.Result)
	}
	if out := f.script("true"); out.err == nil {
		t.Error("a command ran before the one before it was applied")
	}
	if err := f.manager.Reset(t.Context(), f.run); err != nil {
		t.Fatal(err)
	}
	if out := f.script("cat a"); out.err != nil || out.stdout != "before" {
		t.Errorf("after a reset: %q %v", out.stdout, out.err)
	}
}

// TestWhatIsAppliedLateIsTold: what a command changed is applied by the next one, which
// tells of it first and keeps what was replaced until it is released.
func TestWhatIsAppliedLateIsTold(t *testing.T) {
	f, busy := lockedFixture(t)
	f.write("a", "the person's")
	busy.Store(true)
	failed := f.script("echo command > a; echo x > asked")
	if failed.err == nil {
		t.Fatalf("it was applied: %+v", failed.Result)
	}
	failed.Release()
	busy.Store(false)
	out := f.bash("echo more > a")
	if f.read("a") != "more\n" || !slices.Equal(paths(out.Changes), []string{"a", "a"}) || len(out.Held) != 1 || out.Held[0].Path != "asked" {
		t.Fatalf("the project has %q; told %+v", f.read("a"), out.Result)
	}
	for i, want := range []string{"the person's", "command\n"} {
		if text, err := os.ReadFile(out.Changes[i].Old); err != nil || string(text) != want {
			t.Errorf("what a was: %q %v, want %q", text, err, want)
		}
	}
	if out.Changes[0].Now != out.Changes[1].Old {
		t.Errorf("the first change made %q, and the second replaced %q", out.Changes[0].Now, out.Changes[1].Old)
	}
	between := f.bash("true")
	if between.Release(); len(between.Changes)+len(between.Held) != 0 {
		t.Errorf("told twice before the first was released: %+v", between.Result)
	}
	if _, err := os.Stat(out.Changes[0].Old); err != nil {
		t.Errorf("what was replaced is gone before it was released: %v", err)
	}
	out.Release()
	if again := f.bash("true"); len(again.Changes)+len(again.Held) != 0 {
		t.Errorf("told twice: %+v", again.Result)
	}
}

// TestWhatWaitsAndIsRemovedWaitsNoMore: a held path that a later command removes again
// is off the list.
func TestWhatWaitsAndIsRemovedWaitsNoMore(t *testing.T) {
	f := viewFixture(t)
	f.ok("echo one > asked; mkdir asked.d; echo one > asked.d/f; echo one > asked-too")
	f.ok("rm -r asked asked.d")
	if got := sandbox.HeldPaths(f.run.RunDir); !slices.Equal(got, []string{"asked-too"}) {
		t.Errorf("held: %q", got)
	}
}

// TestViewLeftMounted: the manager dies while a command runs that changes nothing. The view
// that it leaves on the run's slot is taken away before the run's next command has its own.
func TestViewLeftMounted(t *testing.T) {
	s := newViewed(t)
	s.add("idle", false, shell("echo ready; until test -e $HOME/go; do sleep 0.02; done"))
	_, kill := settler(t, s.job)
	kill()
	if err := os.WriteFile(filepath.Join(s.run("idle").RunDir, "home", "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the command has ended", func() bool { return len(processes(t, "until test -e")) == 0 })
	f := &fixture{t: t, manager: open(t, s.cfg), run: s.run("idle")}
	f.write("a", "person")
	for i := range 3 {
		if out := f.bash(fmt.Sprintf("cat a; echo %d > b", i)); out.stdout != "person" || !slices.Equal(paths(out.Changes), []string{"b"}) {
			t.Fatalf("command %d: %q %+v", i, out.stdout, out.Result)
		}
	}
	if got := f.contents(); !mapsEqual(got, map[string]string{"a": "person", "b": "2\n"}) {
		t.Errorf("the project has %q", got)
	}
}

// TestWhatWaitsStaysAsked: what was held for a reason that has passed is not applied
// with what a later command adds to it.
func TestWhatWaitsStaysAsked(t *testing.T) {
	f := viewFixture(t)
	f.write("log", "project\n")
	file, err := os.OpenFile(f.path("log"), os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	if out := f.bash("echo rejected >> log"); len(out.Held) != 1 {
		t.Fatalf("%+v", out.Result)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	out := f.bash("echo second >> log")
	if f.read("log") != "project\n" || len(out.Held) != 1 || out.Held[0].Path != "log" {
		t.Errorf("the project has %q; %+v", f.read("log"), out.Result)
	}
}

// TestWhatWasAgreedToIsFinished: the helper dies between two changes that a person agreed
// to. The next manager makes the other one, and its first result tells both.
func TestWhatWasAgreedToIsFinished(t *testing.T) {
	needPodman(t)
	dir := shortDir(t)
	cfg := config(t, dir)
	armed := filepath.Join(dir, "armed")
	cfg.View, cfg.Judge = filepath.Join(dir, "wrapper"), judgeByName{}
	wrapper := fmt.Sprintf("#!/bin/sh\n[ -e %[1]s ] && export BOTHY_VIEW_KILL=$(cat %[1]s)\nexec %[2]s\n", armed, buildFailingView(t, dir))
	if err := os.WriteFile(cfg.View, []byte(wrapper), 0o755); err != nil {
		t.Fatal(err)
	}
	m := open(t, cfg)
	f := newFixture(t, m)
	f.write("asked1", "person 1")
	f.write("asked2", "person 2")
	out := f.bash("echo run > asked1; echo run > asked2")
	if len(out.Held) != 2 {
		t.Fatalf("%+v", out.Result)
	}
	agreed := []sandbox.Agreed{{Path: "asked1", Digest: out.Held[0].Digest}, {Path: "asked2", Digest: out.Held[1].Digest}}
	half := func() bool { return f.read("asked1") == "run\n" && f.read("asked2") == "person 2" }
	// What is written down already is not done again, so that the failpoints are counted
	// anew from each of the notes on.
	written := func() (found int) {
		for _, name := range []string{"agreed", "plan"} {
			all, _ := filepath.Glob(filepath.Join(cfg.StateDir, "views", "*", "*", name))
			found += len(all)
		}
		return found
	}
	at, last := 0, written()
	for range 40 {
		if half() {
			break
		}
		if err := m.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if now := written(); now != last {
			at, last = 0, now
		}
		at++
		if err := os.WriteFile(armed, []byte(strconv.Itoa(at)), 0o600); err != nil {
			t.Fatal(err)
		}
		m = open(t, cfg)
		if half() {
			break
		}
		f.manager = m
		if _, err := m.Apply(t.Context(), f.run, agreed); err == nil {
			t.Fatalf("it did not die at %d, with %d notes written", at, last)
		}
	}
	if !half() {
		t.Fatalf("the helper never died between: %q %q", f.read("asked1"), f.read("asked2"))
	}
	if err := errors.Join(m.Close(context.Background()), os.Remove(armed)); err != nil {
		t.Fatal(err)
	}
	f.manager = open(t, cfg)
	told := f.bash("true")
	if f.read("asked2") != "run\n" || !slices.Equal(paths(told.Changes), []string{"asked1", "asked2"}) {
		t.Errorf("the project has %q; told %+v", f.read("asked2"), told.Changes)
	}
	for _, c := range told.Changes {
		if text, err := os.ReadFile(c.Old); err != nil || !strings.HasPrefix(string(text), "person ") {
			t.Errorf("what %s was: %q %v", c.Path, text, err)
		}
	}
	if got := sandbox.HeldPaths(f.run.RunDir); len(got) != 0 {
		t.Errorf("still held: %q", got)
	}
}

// buildFailingView builds the helper with its failpoints.
func buildFailingView(t *testing.T, dir string) string {
	t.Helper()
	t.Setenv("GOFLAGS", strings.Replace(os.Getenv("GOFLAGS"), "-tags=", "-tags=failpoints,", 1))
	return build(t, "./view", filepath.Join(dir, "bothy-view-failing"))
}
