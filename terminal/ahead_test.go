package main

import (
	"context"
	"errors"
	"testing"

	tea "charm.land/bubbletea/v2"

	"github.com/bothyd/bothy/sdk/rpc"
)

// TestEnteredOnTheWay: what is entered on the way to a run is for that run, and back in the input where the way ends elsewhere;
// what leads on is waited for likewise. Until then it is part of the draft.
func TestEnteredOnTheWay(t *testing.T) {
	to := func(id int64) shows {
		return shows{func(c *conversation) tea.Cmd {
			return tea.Batch(c.leaveRun(&rpc.RunDetail{RunState: rpc.RunState{Run: "other"}, ID: id}), c.doesKept())
		}}
	}
	onward := shows{func(c *conversation) tea.Cmd { return c.goToID(3) }}
	picks := shows{func(c *conversation) tea.Cmd { return c.pickRun("none") }}
	for name, c := range map[string]struct {
		keys    string
		answers []tea.Msg
		run     int64
		sent    string
		input   string
	}{
		"a prompt":                    {"h i enter", []tea.Msg{to(2)}, 2, "hi", ""},
		"one, and the next begins":    {"h i enter s o", []tea.Msg{to(2)}, 2, "hi", "so"},
		"one that is not sent":        {"h i", []tea.Msg{to(2)}, 2, "", "hi"},
		"the run that one is in":      {"h i enter", []tea.Msg{to(1)}, 1, "hi", ""},
		"there is no answer":          {"h i enter s o", []tea.Msg{failure{errors.New("no")}}, 1, "", "hi\nso"},
		"there is no such run":        {"h i enter", []tea.Msg{picks}, 1, "", "hi"},
		"a fork":                      {"h i enter", []tea.Msg{onward, to(3)}, 3, "hi", ""},
		"nothing yet":                 {"h i enter", nil, 1, "", ""},
		"a fork, and nothing yet":     {"h i enter", []tea.Msg{onward}, 1, "", ""},
		"what leads on at once":       {"/ n e w enter h i enter", []tea.Msg{to(2)}, 0, "hi", ""},
		"what leads on with a call":   {"/ f o r k enter h i enter", []tea.Msg{to(2)}, 2, "", ""},
		"what leads to a screen":      {"/ r u n s enter h i enter", []tea.Msg{to(2)}, 2, "", "hi"},
		"an answer that is too late":  {"h i enter", []tea.Msg{fromRun{-1, to(2)}}, 1, "", "hi"},
		"what is emptied is not sent": {"h i enter s o ctrl+c", []tea.Msg{to(2)}, 2, "hi", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPerson(t, 80, 24)
			p.inRun()
			ended, end := context.WithCancel(t.Context())
			end() // the feed of a run tells nothing here
			p.ctx, p.send = ended, func(tea.Msg) {}
			p.goToID(2)
			p.does(c.keys)
			if len(p.outbox) != 0 || p.runID != 1 {
				t.Fatalf("on the way %d go, in run %d", len(p.outbox), p.runID)
			}
			for _, m := range c.answers {
				p.Update(led{m})
			}
			sent := ""
			for _, o := range p.outbox {
				sent += o.prompt.Prompt
			}
			if got := p.in.area.Value(); p.runID != c.run || got != c.input || sent != c.sent {
				t.Errorf("it is in run %d, the input is %q, and %q goes", p.runID, got, sent)
			}
		})
	}
	p := newPerson(t, 80, 24)
	p.inRun()
	p.goToID(2)
	p.does("h i enter s o")
	if got := p.draftText(); got != "hi\nso" {
		t.Errorf("the draft is %q", got)
	}
}
