package main

import (
	"context"
	"path/filepath"
	"sync"
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

// recover takes over what an earlier process left, without
// waiting for the next call: containers and Podman's own processes would be in
// nobody's care, and what an interrupted command planted could be obeyed on the
// host. Opening the sandbox adopts or removes the containers that belong to
// nobody; nothing runs in them any more then.
func (b *bash) recover(s sdk.Settings) {
	ctx, cancel := context.WithTimeout(b.stopping, time.Minute)
	defer cancel()
	manager, err := b.open(ctx)
	if err == nil {
		b.each(interrupted(s.DataDir), func(run string) []sandbox.Violation { return b.recoverIn(b.stopping, manager, run) })
		return
	}
	b.logger.Info("looking after an earlier process without a sandbox", "error", err)
	if !b.await(s.SocketDir) {
		return
	}
	b.each(interrupted(s.DataDir), func(run string) []sandbox.Violation { return sandbox.Recover(run, rules(s)) })
}

// each looks at runs at the same time: one may still belong to the process that
// this one replaces.
func (b *bash) each(runs []string, recover func(run string) []sandbox.Violation) {
	var all sync.WaitGroup
	for _, run := range runs {
		all.Go(func() {
			for _, v := range recover(run) {
				b.logger.Warn("an interrupted command had changed a protected path", "path", v.Path, "action", v.Action, "kept", v.Kept)
			}
		})
	}
	all.Wait()
}

func (b *bash) recoverIn(ctx context.Context, m *sandbox.Manager, run string) []sandbox.Violation {
	found, err := m.Recover(ctx, run)
	if err != nil {
		b.logger.Info("an interrupted command is looked at when the run's next one comes", "run", run, "error", err)
	}
	return found
}

// await waits until no other process has the sandbox: one that this one replaces
// still runs commands. False when this one stops first.
func (b *bash) await(dir string) (free bool) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, busy := sandbox.Left(dir); !busy {
			return true
		}
		select {
		case <-tick.C:
		case <-b.stopping.Done():
			return false
		}
	}
}
