package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// mostStarts is how often a daemon is started again that dies before it greets, before it
// has taken a prompt, or, where a run is followed, before it has recorded anything.
const mostStarts = 3

// bindTime is how long a daemon may take to make a socket again that somebody
// removed.
const bindTime = 6 * time.Second

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
	case !errors.As(why, &down) || b.c.holder(down.Socket) != 0:
		return nil // it may be there in a moment
	case b.starts == mostStarts:
		return exitError{exitLeft, fmt.Errorf("bothyd died %d times and did not get on with run %s: see %s", mostStarts, b.run, b.c.logHint())}
	}
	b.starts++
	b.viewer.lost()
	b.c.say("bothy: bothyd died; starting it again")
	cl, err := b.c.start(ctx, down.Socket)
	if err != nil {
		return exitError{exitLeft, fmt.Errorf("run %s goes on when bothyd runs again, but bothyd cannot start: %w", b.run, err)}
	}
	b.c.close(cl)
	return nil
}

// submit gives a prompt to the daemon. When that dies before it has answered, the next
// one is given the prompt too: by its key it knows whether the prompt is there already.
func (c *console) submit(ctx context.Context, cl *client.Client, readOnly bool, p rpc.Prompt) (rpc.Accepted, error) {
	p.Key = rand.Text()
	send := cl.Act
	if readOnly {
		send = cl.Ask
	}
	died := 0
	for {
		accepted, err := again(ctx, c, cl, func() (rpc.Accepted, error) { return send(ctx, p) })
		switch {
		case !errors.Is(err, client.ErrDisconnected):
			return accepted, err
		case died == mostStarts:
			return accepted, fmt.Errorf("bothyd died %d times before it had answered a prompt: see %s: %w", died+1, c.logHint(), err)
		}
		died++
		c.say("bothy: bothyd died; starting it again")
		c.close(cl) // the next call makes a new connection
		next, err := c.connect(ctx)
		if err != nil {
			return accepted, err
		}
		c.close(next)
	}
}

// again calls ask until the answer is not that the daemon is stopping: it waits
// for its end, starts the next one and asks that. A connection that broke
// without an answer is an error, for what was asked may have been done.
func again[R any](ctx context.Context, c *console, cl *client.Client, ask func() (R, error)) (R, error) {
	refused := false
	for begin := time.Now(); ; {
		answer, err := ask()
		var said *rpc.Error
		busy := errors.As(err, &said) && said.Code == rpc.CodeBusy
		late := time.Since(begin) > stopTime
		switch {
		case isDown(err):
			next, err := c.connect(ctx)
			if err != nil {
				return answer, err
			}
			c.close(next)
		case late || !busy && !(refused && errors.Is(err, client.ErrStopped)):
			return answer, err
		}
		refused = refused || busy
		c.close(cl) // the next call makes a new connection
		if !pause(ctx, 50*time.Millisecond) {
			return answer, ctx.Err()
		}
	}
}

// holder is the process of a daemon that has the lock beside the socket, or 0.
// It can lack its socket for a moment: while it starts or ends, and when
// somebody removed the file.
func (c *console) holder(socket string) int {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(socket), rpc.LockName))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 0 || !alive(pid) {
		return 0
	}
	// The number may be another process's by now.
	if name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid)); err == nil && strings.TrimSpace(string(name)) != "bothyd" {
		return 0
	}
	return pid
}

// waitForSocket waits while a daemon is there without its socket, and reports
// whether one came to be.
func (c *console) waitForSocket(ctx context.Context, socket string) bool {
	told := false
	for begin := time.Now(); time.Since(begin) < bindTime; {
		pid := c.holder(socket)
		if _, err := os.Lstat(socket); err == nil || pid == 0 {
			return err == nil
		}
		if !told && time.Since(begin) > 500*time.Millisecond {
			c.say("bothy: bothyd (pid %d) runs and its socket %s is gone; it makes it again", pid, show.Line(socket))
			told = true
		}
		if !pause(ctx, 50*time.Millisecond) {
			return false
		}
	}
	return false
}
