package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// deletedMark begins the name of a run folder that is to go. The name says so
// before the run is gone from the store, so that after a crash in between it is
// known which folders nobody needs.
const deletedMark = ".deleted-"

// Delete removes a run for good, with its entries, its sandbox and its folder, and
// its children with it. What its forks see, they keep; the project's files stay; the
// journal still tells that the run was there. A busy run is a conflict, of a child too.
func (e *Engine) Delete(ctx context.Context, run int64) error {
	return e.Still(ctx, run, "deleted", func(_ sdk.Run, event sdk.RunEvent) error {
		return e.eraseAll(ctx, event, "deleted by a person")
	})
}

// eraseAll erases a run that is held still, behind its children, once all of them are held so.
func (e *Engine) eraseAll(ctx context.Context, event sdk.RunEvent, reason string) error {
	return e.stillBelow(ctx, event.Run.ID, "deleted", func(below []sdk.RunEvent) error {
		for _, child := range slices.Backward(below) {
			if err := e.erase(ctx, child, reason); err != nil {
				return err
			}
		}
		return e.erase(ctx, event, reason)
	})
}

// erase takes a run that is held still out of the world: first whoever keeps
// something for it drops that, then its folder is marked, then it goes from the
// store, and the folder last. Each step may be the last one before a crash:
// before the store's commit the run is there and can be deleted again, behind
// it only the marked folder is left, which sweep removes.
func (e *Engine) erase(ctx context.Context, event sdk.RunEvent, reason string) error {
	e.clients.CancelIn(ctx, event.Run.ID, "the run was "+reason)
	if err := e.cfg.Hooks.RunDeleted.Tell(ctx, event); err != nil {
		e.log.Warn("what was kept for a run could not be dropped; its folder is tried again later", "run", event.Run.Alias, "error", err)
	}
	marked, err := e.markFolder(event)
	if err != nil {
		return fmt.Errorf("the run %s was not deleted: %w", event.Run.Alias, err)
	}
	failpoint.Hit(failpoint.DeleteBefore)
	if _, err := e.cfg.Store.DeleteRun(ctx, event.Run.ID, reason); err != nil {
		if marked != "" {
			err = errors.Join(err, os.Rename(marked, event.RunDir))
		}
		return fmt.Errorf("the run %s was not deleted: %w", event.Run.Alias, err)
	}
	failpoint.Hit(failpoint.DeleteAfter)
	e.forgetViews(event.Run.ID)
	if marked != "" {
		if err := os.RemoveAll(marked); err != nil {
			e.log.Warn("the folder of a deleted run could not be removed wholly; it is tried again later", "run", event.Run.Alias, "error", err)
		}
	}
	return nil
}

// markFolder renames a run's folder, if it has one, and returns its new path.
func (e *Engine) markFolder(event sdk.RunEvent) (string, error) {
	marked := filepath.Join(e.cfg.DataDir, "runs", deletedMark+event.Run.Key)
	if err := os.RemoveAll(marked); err != nil { // of a deletion that did not come to its end
		return "", fmt.Errorf("mark its folder: %w", err)
	}
	err := os.Rename(event.RunDir, marked)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("mark its folder: %w", err)
	}
	return marked, nil
}

// sweep removes the folders of runs whose deletion did not come to its end. A
// folder whose files cannot be removed is offered once more to those who heard
// of the deletion: a container may have left files of other owners.
func (e *Engine) sweep(ctx context.Context) error {
	runs := filepath.Join(e.cfg.DataDir, "runs")
	names, err := os.ReadDir(runs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for folders of deleted runs: %w", err)
	}
	var failed []error
	for _, entry := range names {
		key, marked := strings.CutPrefix(entry.Name(), deletedMark)
		if !marked || ctx.Err() != nil {
			continue
		}
		path := filepath.Join(runs, entry.Name())
		if os.RemoveAll(path) == nil {
			continue
		}
		e.cfg.Hooks.RunDeleted.Emit(ctx, sdk.RunEvent{Run: sdk.Run{Key: key}, RunDir: path})
		if err := os.RemoveAll(path); err != nil {
			failed = append(failed, fmt.Errorf("remove the folder of a deleted run: %w", err))
		}
	}
	return errors.Join(failed...)
}
