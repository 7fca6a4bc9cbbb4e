package project

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/lock"
)

// TestUndoWaitsForTheProject: nothing is recorded or taken back while somebody else
// changes the project.
func TestUndoWaitsForTheProject(t *testing.T) {
	t.Setenv("XDG_RUNTIME_DIR", t.TempDir())
	w := opened(t, t)
	w.write("a", "one")
	c, err := w.ground().Look(w.steps, everything)
	w.must(err)
	root, err := os.OpenRoot(w.dir)
	w.must(err)
	defer func() { _ = root.Close() }()
	unlock, err := lock.Folder(context.Background(), root)
	w.must(err)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	err = c.Undo(ctx, w.dir, "run", func([]sdk.FileChange) error {
		t.Error("it was begun")
		return nil
	})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v", err)
	}
	if b, _ := os.ReadFile(w.at("a")); string(b) != "one" {
		t.Errorf("a is %q", b)
	}
	unlock()
	w.must(w.undo(c))
	if _, err := os.Stat(w.at("a")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a is still there: %v", err)
	}
}
