package main

import "context"

type doctorCmd struct{}

// Run needs no daemon: the machine may lack what one needs.
func (doctorCmd) Run(ctx context.Context, c *console) error { return c.passThrough(ctx, "doctor") }
