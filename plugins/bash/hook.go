package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// The events that end a run's container.
const (
	runReset   = "run.reset"
	runExpired = "run.expired"
	runDeleted = "run.deleted"

	// runIdle ends what a run has in the background.
	runIdle = "run.idle"
)

// Subscriptions implements sdk.Hook.
func (b *bash) Subscriptions() []sdk.Subscription {
	return []sdk.Subscription{{Name: runReset}, {Name: runExpired}, {Name: runDeleted}, {Name: runIdle}}
}

// Event drops the container of a run that was reset, expired or deleted. The
// home stays when a run expires. What runs in the background ends when no prompt works
// or waits.
func (b *bash) Event(ctx context.Context, name string, payload json.RawMessage) error {
	var e sdk.RunEvent
	if err := json.Unmarshal(payload, &e); err != nil {
		return sdk.Errorf(sdk.Validation, "the payload of %s: %w", name, err)
	}
	b.jobs.forget(ctx, e.Run.Key)
	lost(e.RunDir) // nobody waits for it any more
	if name == runIdle {
		return nil
	}
	if e.Run.Private {
		e.Project = ""
	}
	run := b.runSpec(e.Run.Key, e.Project, e.RunDir)
	if !used(run) {
		return nil
	}
	manager, err := b.open(ctx)
	if err != nil {
		b.logger.Info("the run's container could not be asked for; it ends by itself", "run", run.RunID, "error", err)
		if name == runExpired {
			return nil
		}
		return classified(sandbox.Reset(run))
	}
	if name == runExpired {
		return classified(manager.Drop(ctx, run.RunID))
	}
	return classified(manager.Reset(ctx, run))
}

// Filter implements sdk.Hook; nothing is subscribed to that it could change.
func (b *bash) Filter(_ context.Context, _ string, value json.RawMessage) (json.RawMessage, error) {
	return value, nil
}

// used says whether the run ever had a container: the sandbox makes its home
// first. Podman is not started for a run that had none.
func used(run sandbox.RunSpec) bool {
	if !filepath.IsAbs(run.RunDir) {
		return true
	}
	_, err := os.Lstat(filepath.Join(run.RunDir, "home"))
	return !errors.Is(err, fs.ErrNotExist)
}

var _ sdk.Hook = (*bash)(nil)
