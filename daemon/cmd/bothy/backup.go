package main

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type backupCmd struct {
	File  string `arg:"" optional:"" complete:"file" help:"Where to write it; a dated name in the data directory when absent."`
	Force bool   `help:"Overwrite a file that is there."`
}

// Help adds to the verb's help.
func (backupCmd) Help() string {
	return "The copy holds everything that was committed when it began. It is verified as a whole before it gets its name; the daemon goes on meanwhile. `bothy restore FILE` puts it back."
}

// Run waits until the backup is verified and durable. Ctrl-C gives it up.
func (cmd backupCmd) Run(ctx context.Context, c *console) error {
	ctx, release := c.untilPressed(ctx)
	defer release()
	p := rpc.BackupParams{File: cmd.File, Force: cmd.Force}
	if p.File != "" {
		p.File = c.path(p.File)
	}
	return query(ctx, c, func(cl *client.Client) (rpc.BackupDone, error) {
		done, err := cl.Backup(ctx, p, c.showBackup)
		if c.errTTY {
			fmt.Fprint(c.err, "\r\x1b[K")
		}
		return done, err
	}, func(done rpc.BackupDone) error {
		return c.lines(fmt.Sprintf("%s: %s, %s, journal at %d, verified", done.File, size(done.Bytes), show.Plural(int(done.Runs), "run"), done.Seq))
	})
}

// showBackup keeps one line on a terminal up to date.
func (c *console) showBackup(at rpc.BackupProgress) {
	if c.errTTY && at.Total > 0 {
		fmt.Fprintf(c.err, "\r\x1b[Kcopying: %s of %s (%d %%)", size(at.Done), size(at.Total), at.Done*100/at.Total)
	}
}
