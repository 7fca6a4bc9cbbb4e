package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/timeline"
)

// TestCalls: calls at work stand in a line each, with the output of the one that printed
// last.
func TestCalls(t *testing.T) {
	c := alone(t, 80, 24)
	var actions []*timeline.Action
	for i := range 3 {
		a := &timeline.Action{Streamed: map[int]string{1: fmt.Sprintf("output of %d\n", i)}}
		a.Path, a.Tool, a.Phase = fmt.Sprintf("turn_1/bash/%d", i), "bash", sdk.PhaseStarted
		actions = append(actions, a)
		c.live.calls.take(sdk.JournalRow{Time: time.Now()}, a)
	}
	c.live.calls.take(sdk.JournalRow{Kind: sdk.KindEntryChunk}, actions[1])
	lines := strings.Join(c.live.calls.lines(c), "\n")
	if n := strings.Count(lines, "bash"); n != 3 || !strings.Contains(lines, "│ output of 1") || strings.Contains(lines, "output of 0") {
		t.Errorf("%d calls:\n%s", n, lines)
	}
	if got := c.live.doing(c); got != "3 calls" {
		t.Errorf("it does %q", got)
	}
	actions[0].State, actions[2].State = sdk.StateResolved, sdk.StateFailed
	c.live.calls.take(sdk.JournalRow{}, actions[0])
	c.live.calls.take(sdk.JournalRow{}, actions[2])
	actions[1].Streamed[1] = strings.Repeat("x", 1<<20) + "\nthe end"
	c.live.calls.take(sdk.JournalRow{Kind: sdk.KindEntryChunk}, actions[1])
	if n := len(actions[1].Streamed[1]); n > mostStreamed || !strings.Contains(strings.Join(c.live.calls.lines(c), "\n"), "the end") {
		t.Errorf("%d bytes are kept", n)
	}
	if got := bare(c.live.doing(c)); got != "bash 5s" {
		t.Errorf("it does %q", got)
	}
}

// TestLastPrinted: of what a command prints while it works no more is drawn than is kept,
// whoever called it.
func TestLastPrinted(t *testing.T) {
	for _, text := range []string{"begin " + strings.Repeat("x", mostStreamed), "begin " + strings.Repeat("ä", mostStreamed)} {
		c := alone(t, 80, 24)
		a := &timeline.Action{Streamed: map[int]string{1: text}}
		c.own.working = []*timeline.Action{a}
		c.live.calls = calls{at: []call{{action: a}}, printed: a}
		for name, lines := range map[string][]string{"the person's": c.own.lines(c), "the model's": c.live.calls.lines(c)} {
			if drawn := bare(strings.Join(lines, "\n")); strings.Contains(drawn, "begin") || !strings.Contains(drawn, "  │ "+text[len(text)-40:]) {
				t.Errorf("%s draws %q", name, drawn)
			}
		}
	}
}
