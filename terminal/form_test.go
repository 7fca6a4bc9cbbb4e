package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/timeline"
)

// isAsked has a plugin ask the person.
func (p *person) isAsked(q sdk.Question) {
	a := &timeline.Action{}
	a.State = sdk.StateProposed
	p.Update(asked{a, sdk.Proposal{ID: "p-q", Hash: "h", Tool: sdk.ToolAskUser, Plugin: "mcp__trips", Question: &q, State: sdk.StateProposed,
		Decision: sdk.Decision{Reason: "the plugin mcp__trips asks this"}}, nil})
}

// frame is what stands on the screen.
func (p *person) frame() string { return bare(p.View().Content) }

var trip = sdk.Question{Message: "Where to?", Schema: json.RawMessage(`{"properties":{"city":{"type":"string","title":"Town"},
	"nights":{"type":"integer","default":2},"pin":{"type":"string","format":"password"}},"required":["city"]}`)}

// TestForm: what a plugin wants to know is typed field by field, what does not fit stays there, and
// a password is not seen.
func TestForm(t *testing.T) {
	p := newPerson(t, 100, 24)
	p.in.set("begun")
	p.isAsked(trip)
	p.does("pause")
	for _, want := range []string{"? Where to?", "wants to know: Town, nights (if you like), pin (if you like)", "y answer", "c leave it without an answer"} {
		if !strings.Contains(p.frame(), want) {
			t.Errorf("not shown: %q in\n%s", want, p.frame())
		}
	}
	p.does("pause a pause e pause r")
	if p.open.always || p.open.typing() {
		t.Fatal("a question has the keys of a call")
	}
	p.in.set("begun")
	p.does("pause y")
	f := p.open.form
	p.does("enter")
	if f.at != 0 || !strings.Contains(p.frame(), "city is needed") {
		t.Errorf("nothing typed was taken:\n%s", p.frame())
	}
	p.does("B e r n enter x enter")
	if f.at != 1 || !strings.Contains(p.frame(), "a whole number") {
		t.Errorf("what does not fit was taken:\n%s", p.frame())
	}
	p.does("backspace 3 enter s e c")
	if strings.Contains(p.frame(), "sec") || !strings.Contains(p.frame(), "•••") {
		t.Errorf("the password is seen:\n%s", p.frame())
	}
	p.does("enter")
	r, err := f.answer(&trip)
	if err != nil || string(r.Data) != `{"city":"Bern","nights":3,"pin":"sec"}` || !p.open.sent || p.in.area.Value() != "begun" {
		t.Errorf("%s %v, sent %t, the input is %q", r.Data, err, p.open.sent, p.in.area.Value())
	}
}

// TestFormIsLeft: esc goes back to the question and to what was typed before; n and c answer, and an
// address or a plain question wants nothing typed.
func TestFormIsLeft(t *testing.T) {
	p := newPerson(t, 100, 24)
	p.in.set("begun")
	p.isAsked(trip)
	p.does("pause y B esc")
	if p.open.form != nil || p.in.area.Value() != "begun" || p.open.sent {
		t.Errorf("form %v, the input is %q", p.open.form, p.in.area.Value())
	}
	for key, q := range map[string]sdk.Question{"n": trip, "c": trip, "y": {Message: "Shall I?"}} {
		p := newPerson(t, 50, 24)
		p.isAsked(q)
		if p.does("pause " + key); !p.open.sent {
			t.Errorf("%s did not answer %+v", key, q)
		}
	}
	p = newPerson(t, 100, 24)
	p.isAsked(sdk.Question{Message: "Sign in.", URL: "https://far.example/" + strings.Repeat("x", 600)})
	p.does("pause y")
	if p.open.sent {
		t.Error("an address was agreed to that was not shown whole")
	}
	p.does("pause y")
	if !p.open.sent {
		t.Errorf("not sent:\n%s", p.frame())
	}
	p = newPerson(t, 100, 24)
	p.isAsked(trip)
	p.does("pause esc")
	if p.open != nil || !p.leftOpen["p-q"] {
		t.Error("it was not left open")
	}
}
