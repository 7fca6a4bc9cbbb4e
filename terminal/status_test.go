package main

import (
	"strings"
	"testing"
	"time"

	"charm.land/lipgloss/v2"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// TestStatus: what is done stands in one line at any width, and what matters less is left
// out first.
func TestStatus(t *testing.T) {
	for _, tt := range []struct {
		width int
		want  string
	}{
		{120, "⠋ thinking 5s  12k tokens  context 42%  cost 0.5  esc ends it"},
		{60, "⠋ thinking 5s  12k tokens  context 42%  esc ends it"},
		{41, "⠋ thinking 5s  12k tokens  esc ends it"},
		{30, "⠋ thinking 5s  esc ends it"},
		{22, "⠋ thinking 5s"},
	} {
		c := alone(t, tt.width, 20)
		loop := &timeline.Loop{Began: time.Now().Add(-5 * time.Second), Turns: []*timeline.Turn{{Usage: &sdk.Usage{Total: 12_345, Cost: new(0.5)}}}}
		c.live.begin(loop)
		c.live.context = &rpc.ContextUse{Share: 0.42}
		if got := bare(c.live.status(c)); got != tt.want || lipgloss.Width(got) >= tt.width {
			t.Errorf("%d: %q, want %q", tt.width, got, tt.want)
		}
	}
}

// TestEscAgain: where the daemon did not end what works, or died before it had, esc does again.
func TestEscAgain(t *testing.T) {
	p := newPerson(t, 80, 24)
	p.inRun()
	p.takes(startedRow(1))
	esc := p.abort() // there is no daemon
	if !p.live.aborting || p.abort() != nil {
		t.Error("it is ended twice")
	}
	p.Update(esc())
	if said := p.said(); p.live.aborting || !strings.Contains(said, "nowhere") {
		t.Errorf("nothing ended it, and it says %q", said)
	}
	p.abort()
	if p.Update(fromRun{p.entered, connectionLost{}}); p.live.aborting || p.abort() == nil {
		t.Error("the daemon is another, and esc ends nothing")
	}
}
