package client

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Backup asks for a verified copy of the database and waits for it. progress,
// when not nil, is told how far a long one is. The call has a connection of its
// own; the end of ctx closes it, which gives the backup up.
func (c *Client) Backup(ctx context.Context, p rpc.BackupParams, progress func(rpc.BackupProgress)) (rpc.BackupDone, error) {
	var done rpc.BackupDone
	notes := make(chan rpc.Request, 16)
	l, _, err := c.open(ctx, notes)
	if err != nil {
		return done, err
	}
	var telling sync.WaitGroup
	defer func() {
		_ = l.close() // the answer is what counts
		telling.Wait()
	}()
	telling.Go(func() { // until the connection ends
		for n := range notes {
			var at rpc.BackupProgress
			if progress != nil && n.Method == rpc.NoteBackup && json.Unmarshal(n.Params, &at) == nil {
				progress(at)
			}
		}
	})
	raw, err := l.call(ctx, rpc.MethodBackup, p)
	if err != nil {
		return done, err
	}
	if err := json.Unmarshal(raw, &done); err != nil {
		return done, fmt.Errorf("answer of %s: %w", rpc.MethodBackup, err)
	}
	return done, nil
}
