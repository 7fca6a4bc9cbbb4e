package main

import "context"

type configCmd struct {
	Check configCheckCmd `cmd:"" help:"Read the configuration and show every mistake where it stands."`
	Show  configShowCmd  `cmd:"" help:"Print every value with the place it comes from."`
}

type configCheckCmd struct{}

// Run needs no daemon: a configuration may keep one from starting.
func (configCheckCmd) Run(ctx context.Context, c *console) error {
	return c.passThrough(ctx, "config", "check")
}

type configShowCmd struct{}

// Run shows what a daemon started here and now would use.
func (configShowCmd) Run(ctx context.Context, c *console) error {
	return c.passThrough(ctx, "config", "show")
}
