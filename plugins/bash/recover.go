package main

import (
	"context"
	"path/filepath"
	"time"

	"github.com/bothyd/bothy/sandbox"
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

// recover looks at the projects of interrupted commands without waiting for the
// next call: until then what a command planted could be obeyed on the host.
// Opening the sandbox takes over the containers that are left, and their
// runners have killed everything by then.
func (b *bash) recover(runs []string) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := b.open(ctx); err != nil {
		b.logger.Info("looking at interrupted commands without a sandbox", "error", err)
	}
	for _, run := range runs {
		for _, v := range sandbox.Recover(run) {
			b.logger.Warn("an interrupted command had changed a protected path", "path", v.Path, "action", v.Action, "kept", v.Kept)
		}
	}
}
