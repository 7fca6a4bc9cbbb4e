package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// How long a daemon may take to greet. One that starts reads its plugins
// first; its socket is there before it answers.
const (
	greetTime = 20 * time.Second
	startTime = 60 * time.Second
)

// connect returns a client of the running daemon, starting it when there is
// none.
func (c *console) connect(ctx context.Context) (*client.Client, error) {
	cl, err := c.attachSoon(ctx)
	var down *client.NotRunningError
	if errors.As(err, &down) && c.waitForSocket(ctx, down.Socket) {
		cl, err = c.attachSoon(ctx)
	}
	if errors.As(err, &down) {
		cl, err = c.start(ctx, down.Socket)
	}
	if err != nil {
		return nil, err
	}
	hello, err := cl.Hello(ctx)
	if err != nil {
		return nil, errors.Join(err, cl.Close())
	}
	if hello.Version != sdk.Version {
		c.say("bothy: the daemon is version %s and this is %s: after `bothy stop` the next call starts the bothyd of this version", escapeLine(hello.Version), sdk.Version)
	}
	return cl, nil
}

// attachSoon is attach, after the end of a daemon that is about to end.
func (c *console) attachSoon(ctx context.Context) (cl *client.Client, err error) {
	err = c.whileEnding(ctx, greetTime, func() (err error) {
		cl, err = c.attach(ctx)
		return err
	})
	return cl, err
}

// whileEnding calls try again as long as what answers is a daemon that is about
// to end, at most for the time given: one that has ended can be told apart, and
// another started.
func (c *console) whileEnding(ctx context.Context, most time.Duration, try func() error) error {
	for begin := time.Now(); ; {
		err := try()
		if !ending(err) || time.Since(begin) > most {
			return err
		}
		select {
		case <-time.After(50 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// ending reports whether a greeting failed because the daemon stops or has no
// room for another connection.
func ending(err error) bool {
	var said *rpc.Error
	if errors.As(err, &said) {
		return said.Code == rpc.CodeBusy
	}
	return errors.Is(err, client.ErrDisconnected)
}

// attach returns a client of the running daemon, or a *client.NotRunningError.
func (c *console) attach(ctx context.Context) (*client.Client, error) {
	socket, err := rpc.FindSocket(c.env)
	if err != nil {
		return nil, usageError{err.Error()}
	}
	cl := &client.Client{Socket: socket, Name: "bothy"}
	ctx, cancel := context.WithTimeout(ctx, greetTime)
	defer cancel()
	_, err = cl.Hello(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("something listens at %s and does not answer: see %s, or end that bothyd with `bothy stop --now`", socket, c.logHint())
	}
	if err != nil {
		return nil, errors.Join(err, cl.Close())
	}
	return cl, nil
}

// logHint names the daemon's log for an error.
func (c *console) logHint() string {
	state, err := rpc.StateDir(c.env)
	if err != nil {
		return "its log"
	}
	return state + "/bothyd.log"
}
