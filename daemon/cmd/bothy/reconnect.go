package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/start"
)

// reconnect is what a follower does when its daemon is gone. A daemon that was
// stopped stays stopped. A daemon that died is started again, as at first use, and
// goes on with the run.
type reconnect struct {
	start.Reviver
	run string
}

// lost is asked by the client each time that there is no connection.
func (b *reconnect) lost(ctx context.Context, why error) error {
	if errors.Is(why, client.ErrStopped) {
		return exitError{exitLeft, fmt.Errorf("bothyd was stopped; run %s goes on when bothyd runs again, which the next call starts: `bothy runs show %s` tells how the run went", b.run, b.run)}
	}
	err := b.Lost(ctx, why)
	var died *start.DiedError
	switch {
	case errors.As(err, &died):
		return exitError{exitLeft, fmt.Errorf("bothyd died %d times and did not get on with run %s: see %s", died.Times, b.run, died.Log)}
	case err != nil:
		return exitError{exitLeft, fmt.Errorf("run %s goes on when bothyd runs again, but bothyd cannot start: %w", b.run, err)}
	}
	return nil
}
