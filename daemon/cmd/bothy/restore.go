package main

import "context"

type restoreCmd struct {
	File string `arg:"" complete:"file" help:"The backup to restore."`
}

// Help adds to the verb's help.
func (restoreCmd) Help() string {
	return "The daemon must be stopped (`bothy stop`). FILE is verified first; the present database is kept aside under a dated name, never deleted."
}

// Run needs no daemon, and none may run.
func (cmd restoreCmd) Run(ctx context.Context, c *console) error {
	return c.passThrough(ctx, "restore", "--", cmd.File)
}
