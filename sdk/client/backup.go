package client

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Backup asks for a verified copy of the database and waits for it. progress,
// when not nil, is told how far a long one is. The call has a connection of its
// own; the end of ctx closes it, which gives the backup up.
func (c *Client) Backup(ctx context.Context, p rpc.BackupParams, progress func(rpc.BackupProgress)) (rpc.BackupDone, error) {
	return heard[rpc.BackupDone](ctx, c, rpc.MethodBackup, p, rpc.NoteBackup, progress)
}
