//go:build linux

package sandbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
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
	return newFixture(t, open(t, cfg)), busy
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
