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
	c      *console
	viewer viewer
	run    string
	starts int // since the last row
}

// lost is asked by the client each time that there is no connection.
func (b *reconnect) lost(ctx context.Context, why error) error {
	var down *client.NotRunningError
	switch {
	case errors.Is(why, client.ErrStopped):
		return exitError{exitLeft, fmt.Errorf("bothyd was stopped; run %s goes on when bothyd runs again, which the next call starts: `bothy runs show %s` tells how the run went", b.run, b.run)}
	case !errors.As(why, &down) || start.Holder(down.Socket) != 0:
		return nil // it may be there in a moment
	case b.starts == start.MostStarts:
		return exitError{exitLeft, fmt.Errorf("bothyd died %d times and did not get on with run %s: see %s", start.MostStarts, b.run, b.c.daemon().Log())}
	}
	b.starts++
	b.viewer.lost()
	b.c.say("bothy: bothyd died; starting it again")
	cl, err := b.c.daemon().Start(ctx, down.Socket)
	if err != nil {
		return exitError{exitLeft, fmt.Errorf("run %s goes on when bothyd runs again, but bothyd cannot start: %w", b.run, err)}
	}
	b.c.close(cl)
	return nil
}
