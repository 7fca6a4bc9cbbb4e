package main

import (
	"cmp"
	"context"
	"time"

	"github.com/bothyd/bothy/sandbox"
	"github.com/bothyd/bothy/sdk"
)

// opens bounds how long the sandbox may take to be opened where no call waits.
const opens = time.Minute

// prepare makes the container of a run, so that its first command finds it.
func (b *bash) prepare(ctx context.Context, at sdk.Place) (sdk.Prepared, error) {
	manager, err := b.openBeforehand()
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return sdk.Prepared{}, classified(err)
	}
	run := b.runSpec(at.Run, at.Project, at.RunDir)
	run.Network = at.Network
	b.heedNetwork(ctx, at.Run, at.Network)
	p, err := manager.Prepare(ctx, run)
	return sdk.Prepared{View: p.View, Reason: p.Reason}, classified(err)
}

// openBeforehand is open where nobody has called yet. It goes on when the request
// that it is for is given up, for the next one needs it as well. What went wrong
// is no problem of the plugin before a call meets it, and is not tried again
// before one does.
func (b *bash) openBeforehand() (*sandbox.Manager, error) {
	ctx, cancel := context.WithTimeout(b.stopping, opens)
	defer cancel()
	if err := b.alone(ctx); err != nil {
		return nil, err
	}
	defer func() { <-b.opening }()
	m, settings, err := b.ready()
	if m != nil || err != nil {
		return m, err
	}
	b.mu.Lock()
	known := cmp.Or(b.unready, b.problem)
	b.mu.Unlock()
	if known != nil {
		return nil, known
	}
	m, err = sandbox.Open(ctx, withIdentity(ctx, config(*settings, &b.protections)), b.logger.Named("sandbox"))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.manager, b.unready = m, err
	return m, err
}
