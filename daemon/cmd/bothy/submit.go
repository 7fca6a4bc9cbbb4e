package main

import (
	"context"
	"errors"
	"os"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

// presses are those of Ctrl-C that are meant for a prompt. They are heard from before it is sent, so
// that none is lost, or ends bothy, between its being taken and its being followed.
type presses struct {
	from   <-chan os.Signal
	before int // that came before it was taken
	stop   func()
}

// listen hears Ctrl-C until stop is called.
func (c *console) listen() *presses {
	from, stop := c.interrupts()
	return &presses{from: from, stop: stop}
}

// submit sends a prompt. Ctrl-C aborts its run as soon as it is taken, and a second one waits for nothing.
func (c *console) submit(ctx context.Context, cl *client.Client, readOnly bool, p rpc.Prompt, pressed *presses) (rpc.Accepted, error) {
	type answer struct {
		accepted rpc.Accepted
		err      error
	}
	answers := make(chan answer, 1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	d := c.daemon()
	go func() { // it ends with ctx
		accepted, err := d.Prompt(ctx, cl, readOnly, p)
		answers <- answer{accepted, err}
	}()
	for {
		select {
		case a := <-answers:
			return a.accepted, a.err
		case <-pressed.from:
		}
		if pressed.before++; pressed.before > 1 {
			return rpc.Accepted{}, exitError{exitAborted, errors.New("left before bothyd had taken the prompt; `bothy runs list` tells whether it works on it")}
		}
		c.say("\nthe prompt is aborted as soon as bothyd has taken it; press Ctrl-C again to leave")
	}
}
