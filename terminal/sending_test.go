package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestOutbox: one prompt goes after the other, what is refused comes back before what was
// typed since, and what was not sent when a run is left does, too.
func TestOutbox(t *testing.T) {
	c := alone(t, 80, 24)
	for _, text := range []string{"one", "two", "three", "four"} {
		c.prompt(text)
	}
	if len(c.outbox) != 4 {
		t.Fatalf("%d go out", len(c.outbox))
	}
	c.deliver(delivered{c.entered, refused{errors.New("no")}})
	if got := c.in.area.Value(); got != "one" || c.outbox[0].shown != "two" {
		t.Errorf("the input is %q, and %q goes", got, c.outbox[0].shown)
	}
	c.in.set("begun")
	before := c.entered
	c.leaveRun(nil)
	if got := c.in.area.Value(); got != "three\nfour\nbegun" || len(c.outbox) != 1 {
		t.Errorf("the input is %q, and %d go", got, len(c.outbox))
	}
	c.deliver(delivered{before, accepted{"two", rpc.Accepted{Run: "other", ID: 7}, nil}})
	if c.run != "" || len(c.outbox) != 0 {
		t.Errorf("it is in run %q, and %d go", c.run, len(c.outbox))
	}
}

// TestWhatWasSaidWhileAPromptWentOut stands above the prompt's own lines: that the daemon was
// given a key, say.
func TestWhatWasSaidWhileAPromptWentOut(t *testing.T) {
	c := alone(t, 80, 24)
	before := len(c.waits)
	c.sayOf(nil)
	c.sayOf([]string{"gave the daemon A_KEY", "and \x1b[31mmore"})
	if len(c.waits) != before+1 || !strings.Contains(c.waits[before], "gave the daemon A_KEY") || strings.Contains(c.waits[before], "\x1b[31m") {
		t.Errorf("it says %q", c.waits[before:])
	}
}

// TestUnknown leaves to the daemon what is no mistyped command.
func TestUnknown(t *testing.T) {
	c := alone(t, 80, 24)
	for _, text := range []string{"text", " /modle", "/etc/passwd", "/", "/Modle", "/status"} {
		if err := c.unknown(t.Context(), text); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
}
