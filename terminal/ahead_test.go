package main

import (
	"context"
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestTypedOnTheWay: what is typed on the way to a run is for that run, and for the one that stays where the way fails; what
// leads on is waited for likewise.
func TestTypedOnTheWay(t *testing.T) {
	to := func(id int64) shows {
		return shows{func(c *conversation) tea.Cmd {
			return c.leaveRun(&rpc.RunDetail{RunState: rpc.RunState{Run: "other"}, ID: id})
		}}
	}
	onward := shows{func(c *conversation) tea.Cmd { return c.goToID(3) }}
	for name, c := range map[string]struct {
		keys    string
		answers []tea.Msg
		run     int64
		sent    int
		input   string
	}{
		"a prompt":                  {"h i enter", []tea.Msg{to(2)}, 2, 1, ""},
		"one that is not sent":      {"h i", []tea.Msg{to(2)}, 2, 0, "hi"},
		"there is no such run":      {"h i enter", []tea.Msg{failure{errors.New("no")}}, 1, 1, ""},
		"a fork":                    {"h i enter", []tea.Msg{onward, to(3)}, 3, 1, ""},
		"no answer yet":             {"h i enter", nil, 1, 0, ""},
		"of a fork neither":         {"h i enter", []tea.Msg{onward}, 1, 0, ""},
		"ctrl-c":                    {"h i ctrl+c o enter", []tea.Msg{to(2)}, 2, 1, ""},
		"what leads on once more":   {"/ n e w enter h i", []tea.Msg{to(2)}, 0, 0, "hi"},
		"an answer that comes late": {"h i", []tea.Msg{fromRun{-1, to(2)}}, 1, 0, "hi"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, 80, 24)
			p.inRun()
			ended, end := context.WithCancel(t.Context())
			end() // the feed of a run tells nothing here
			p.ctx, p.send = ended, func(tea.Msg) {}
			p.goToID(2)
			p.does(c.keys)
			if p.in.area.Value() != "" || len(p.outbox) != 0 {
				t.Fatalf("on the way the input is %q, and %d go", p.in.area.Value(), len(p.outbox))
			}
			for _, m := range c.answers {
				p.Update(led{m})
			}
			if got := p.in.area.Value(); p.runID != c.run || got != c.input || len(p.outbox) != c.sent {
				t.Errorf("it is in run %d, the input is %q, and %d go", p.runID, got, len(p.outbox))
			}
		})
	}
}
