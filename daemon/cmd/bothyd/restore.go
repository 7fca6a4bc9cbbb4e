package main

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/daemon"
	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
)

type restoreCmd struct{ verbs.Restore }

// Run says what lies where afterwards.
func (cmd restoreCmd) Run(f *flags, c *console) error {
	done, err := daemon.Restore(context.Background(), f.Config, cmd.File)
	return report(c, done, err, func(c *console, done daemon.Restored) error {
		fmt.Fprintf(c.out, "%s is restored from %s: %d runs, journal at %d, verified\n", done.Database, done.From, done.Runs, done.Seq)
		if done.Aside != "" {
			fmt.Fprintf(c.out, "what was there before is kept in %s\n", done.Aside)
		}
		return nil
	})
}
