package audit

import (
	"encoding/json"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestPersons: what was put before a person and what that person said is told,
// and a person's no is no security event.
func TestPersons(t *testing.T) {
	h := newHouse(t)
	r := h.run()
	l := h.loop(r, "go")
	turn := h.open(r, l)
	change := func(w sdk.Write, attributes string) sdk.Change {
		w.Writer, w.Turn, w.Loop, w.Attributes = sdk.WriterSystem, turn.Sequence, l.ID, json.RawMessage(attributes)
		w.Path = "log://turn_1/bash/a"
		return sdk.Change{Run: r.ID, Writes: []sdk.Write{w}}
	}
	h.commit(change(sdk.Write{State: sdk.StateStreaming, Phase: sdk.PhaseRecorded}, `{"call_id":"c1","tool":"bash","arguments":{"command":"x"}}`))
	h.commit(change(sdk.Write{State: sdk.StateProposed, Phase: sdk.PhaseRecorded}, `{"proposal":{"id":"ab12","hash":"h1","command":"x"}}`))
	h.commit(change(sdk.Write{State: sdk.StateProposed, Phase: sdk.PhaseRecorded}, `{"proposal":{"id":"ab12","hash":"h2","command":"y"},"answer":{"answer":"edit","by":"a person"}}`))
	h.commit(change(sdk.Write{State: sdk.StateFailed, Outcome: sdk.Permission, Phase: sdk.PhaseEnded, Body: text("rejected")},
		`{"answer":{"answer":"reject","by":"a person","reason":"no"},"error":"rejected"}`))
	h.logged()
	lines := h.lines(r)
	want := "run_created loop_queued prompt loop_started turn_started tool_call tool_proposed tool_answered tool_proposed tool_answered tool_error"
	if got := kinds(lines); got != want {
		t.Fatalf("got  %s\nwant %s", got, want)
	}
	if p := lines[8].Payload; p["hash"] != "h2" || p["command"] != "y" || p["tool"] != "bash" || p["path"] != "log://turn_1/bash/a" {
		t.Errorf("proposed %v", p)
	}
	if p := lines[9].Payload; p["answer"] != "reject" || p["by"] != "a person" || p["reason"] != "no" {
		t.Errorf("answered %v", p)
	}
}
