package server

import (
	"context"
	"path/filepath"
	"strings"
	"sync/atomic"

	"github.com/bothyd/bothy/sdk/rpc"
)

// backup answers when the backup is durable and verified.
func (s *Server) backup(ctx context.Context, c *conn, p rpc.BackupParams) (rpc.BackupDone, error) {
	if p.File != "" && (!filepath.IsAbs(p.File) || strings.ContainsRune(p.File, 0)) {
		return rpc.BackupDone{}, wrongParams("the file of %s is %q and must be an absolute path", rpc.MethodBackup, p.File)
	}
	var waiting atomic.Bool // one line: a client that reads slowly misses some
	return s.cfg.Daemon.Backup(ctx, p, func(done, total int64) {
		if !waiting.Swap(true) {
			c.out.note(rpc.NoteBackup, rpc.BackupProgress{Done: done, Total: total}, func() { waiting.Store(false) })
		}
	})
}
