package daemon

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Restored says what Restore has done.
type Restored struct {
	Database string `json:"database"`
	From     string `json:"from"`
	Aside    string `json:"aside,omitempty"` // where the database lies that was there before
	Seq      int64  `json:"seq"`
	Runs     int64  `json:"runs"`
}

// Restore puts the backup in the place of the database that the configuration
// names. It refuses while a daemon has that open.
func Restore(ctx context.Context, configPath, from string) (Restored, error) {
	_, cfg, diags := LoadConfig(configPath, &audit.Redactor{})
	if cfg == nil {
		return Restored{}, &sdk.Error{Outcome: sdk.Validation, Message: "the configuration cannot be used:\n" + diags.Error(), Cause: diags}
	}
	paths, err := findPaths(cfg)
	if err != nil {
		return Restored{}, err
	}
	done, err := store.Restore(ctx, from, paths.Store)
	return Restored{Database: done.Path, From: from, Aside: done.Aside, Seq: done.Seq, Runs: done.Runs}, err
}

// Backup implements server.Daemon.
func (d *Daemon) Backup(ctx context.Context, p rpc.BackupParams, progress func(done, total int64)) (rpc.BackupDone, error) {
	info, err := d.store.Backup(ctx, p.File, p.Force, progress)
	if err != nil {
		return rpc.BackupDone{}, err
	}
	d.log.Info("backup written", "file", info.Path, "bytes", info.Bytes, "seq", info.Seq)
	return rpc.BackupDone{File: info.Path, Bytes: info.Bytes, Seq: info.Seq, Runs: info.Runs}, nil
}
