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
	return s.cfg.Daemon.Backup(ctx, p, c.tellBackup())
}

// tellBackup makes the function that tells a client how far its backup is. One
// that reads slowly misses some: at most one line waits for it.
func (c *conn) tellBackup() func(done, total int64) {
	waiting := new(atomic.Bool)
	return func(done, total int64) {
		if waiting.Swap(true) {
			return
		}
		text, err := encodeNote(rpc.NoteBackup, rpc.BackupProgress{Done: done, Total: total})
		if err != nil {
			return
		}
		c.out.put(text, func() { waiting.Store(false) })
	}
}
