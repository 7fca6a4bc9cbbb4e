package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// interrupted are the folders of runs whose command was running when an earlier
// process of this plugin died.
func interrupted(dataDir string) []string {
	runs, err := filepath.Glob(filepath.Join(dataDir, "runs", "*"))
	if err != nil {
		return nil
	}
	return sandbox.Interrupted(runs)
}

// recover takes over what an earlier process left, without waiting for the next
// call: containers and Podman's own processes would be in nobody's care, and
// what an interrupted command planted could be obeyed on the host. Opening the
// sandbox adopts or removes the containers; nothing runs in them any more then.
func (b *bash) recover(s sdk.Settings) {
	left, free := b.await(s.SocketDir)
	runs := interrupted(s.DataDir)
	if !free || !left && len(runs) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	manager, err := b.open(ctx)
	if err != nil {
		b.logger.Info("looking after an earlier process without a sandbox", "error", err)
	}
	for _, run := range runs {
		found := sandbox.Recover
		if manager != nil {
			found = func(run string) []sandbox.Violation { return b.recoverIn(ctx, manager, run) }
		}
		for _, v := range found(run) {
			b.logger.Warn("an interrupted command had changed a protected path", "path", v.Path, "action", v.Action, "kept", v.Kept)
		}
	}
}

func (b *bash) recoverIn(ctx context.Context, m *sandbox.Manager, run string) []sandbox.Violation {
	found, err := m.Recover(ctx, run)
	if err != nil {
		b.logger.Info("an interrupted command is looked at when the run's next one comes", "run", run, "error", err)
	}
	return found
}

// await waits until no other process has the sandbox, and says whether one that
// died left something: a process that this one replaces still runs commands, and
// leaves nothing when it ends in order. Free is false when this one stops first.
func (b *bash) await(dir string) (left, free bool) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if m, _, _ := b.ready(); m != nil {
			return true, true // a call was faster
		}
		left, busy := sandbox.Left(dir)
		if !busy {
			return left, true
		}
		select {
		case <-tick.C:
		case <-b.stopping.Done():
			return false, false
		}
	}
}
