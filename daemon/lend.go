package daemon

import (
	"context"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// blocks are those of a configuration, and behind them those that front ends lend.
func (d *Daemon) blocks(cfg *config.Config) []inspect.Spec {
	return slices.Concat(inspect.Blocks(cfg), d.loans.Blocks())
}

// Lend implements server.Daemon.
func (d *Daemon) Lend(ctx context.Context, run sdk.Run, servers []rpc.LentServer) ([]rpc.LentAs, func()) {
	return d.loans.Lend(ctx, run, servers, d.putLent)
}

// putLent puts in force what is lent by now.
func (d *Daemon) putLent(ctx context.Context) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	if d.stopping.Err() == nil {
		d.host.Apply(ctx, d.blocks(d.current()))
	}
}
