package daemon

import (
	"context"
	"path/filepath"
	"time"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
)

// runlogTime is how long a stop waits for the last lines of the runlogs. What
// is not written then is written at the next start.
const runlogTime = 2 * time.Second

// startRunlogs follows the journal as long as the store is open: it begins
// behind the store and ends after the engine, so that every end is told. What is
// caught up with may hold secrets of plugins that are not started yet.
func (d *Daemon) startRunlogs(context.Context) error {
	d.cfg.LearnSecrets()
	d.runlogs = audit.Start(audit.Config{
		Store: journal{d.store}, Dir: filepath.Join(d.paths.Data, "runs"),
		Redact: d.secrets.Redact, Log: d.log.Named("runlog"),
	})
	d.onClose("runlogs", func() error {
		ctx, cancel := context.WithTimeout(context.Background(), runlogTime)
		defer cancel()
		return d.runlogs.Close(ctx)
	})
	return nil
}

// journal is the store as the runlogs read it.
type journal struct{ *store.Store }

// Runs implements audit.Store.
func (j journal) Runs(ctx context.Context, limit, offset int) ([]sdk.Run, error) {
	return j.Store.Runs(ctx, store.RunFilter{Hidden: true, Limit: limit, Offset: offset})
}
