package main

import (
	"testing"

	"github.com/bothyd/bothy/plugins/telegram/telegramtest"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestLateToHear: an answer that ends after it was looked at, and before anything is heard of it, arrives all the same.
func TestLateToHear(t *testing.T) {
	server, d := telegramtest.New(t), newDesk("7")
	d.say = func(rpc.Prompt) []string { return nil }
	d.late = make(chan struct{})
	c := talk(t, server, d)
	server.Says(7, "x")
	c.shows(7, placeholder)
	c.until("it is looked at", func() bool { d.mu.Lock(); defer d.mu.Unlock(); return d.read > 0 })
	d.do(func() { d.end(rpc.Accepted{ID: 1, Loop: 1}, "here") })
	close(d.late)
	c.shows(7, "here")
}
