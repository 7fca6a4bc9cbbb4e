package main

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestChannels: who may write is listed with what they may be called by anybody made harmless, and taken away by label.
func TestChannels(t *testing.T) {
	b := withDaemon(t, nil)
	b.c.outTTY = true
	b.daemon.people.all = []rpc.ListedPerson{
		{Person: sdk.Person{ID: "chat/12", Name: "Ada\x1b[2J"}, Channel: "chat", Called: "12"},
		{Person: sdk.Person{ID: "chat/me", Owner: sdk.LocalOwner, Agent: "mine"}, Channel: "chat", Called: "me"},
	}
	b.want(t, exitOK, "channels")
	out := b.out.String()
	for _, says := range []string{"CHANNEL", "chat/12", "local", "mine"} {
		if !strings.Contains(out, says) {
			t.Errorf("it does not say %q: %s", says, out)
		}
	}
	if strings.Contains(out, "\x1b[2J") || !strings.Contains(b.err.String(), "chat: its plugin does not run") {
		t.Errorf("%q %q", out, b.err.String())
	}
	b.want(t, exitOK, "channels", "rm", "chat/12")
	if len(b.daemon.people.all) != 1 {
		t.Errorf("there are %+v", b.daemon.people.all)
	}
	b.want(t, exitUsage, "channels", "rm", "12")
	b.want(t, exitUnanswered, "channels", "pair", "chat")
	if !strings.Contains(b.err.String(), "there is no terminal") {
		t.Error(b.err.String())
	}
}
