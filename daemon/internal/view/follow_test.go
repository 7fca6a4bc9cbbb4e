package view

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestRemarks: what became of a call that a result asked for stands behind that result, also when a plugin
// made the one that asked; other calls of plugins stay unseen.
func TestRemarks(t *testing.T) {
	add := func(s *story, path, attributes, body string, state sdk.State) {
		s.entries = append(s.entries, sdk.Entry{Path: path, Body: body, Hash: body, Attributes: []byte(attributes), State: state, Loop: s.loop, Version: 1})
	}
	s := (&story{}).prompt("go").answer("", "bash:ran", "skill:used", "read:text")
	add(s, "log://turn_1/apply/a", `{"call_id":"follow_3","tool":"apply","parent":"log://turn_1/bash/0","follows":true,"otherwise":"It is kept."}`, "a person rejected this call.", sdk.StateFailed)
	add(s, "log://turn_1/bash/b", `{"call_id":"plugin_4","tool":"bash","parent":"log://turn_1/skill/1"}`, "unseen", sdk.StateResolved)
	add(s, "log://turn_1/apply/b", `{"call_id":"follow_5","tool":"apply","parent":"log://turn_1/bash/b","follows":true}`, "applied b", sdk.StateResolved)
	add(s, "log://turn_1/apply/c", `{"call_id":"follow_6","tool":"apply","parent":"log://turn_1/skill/1","follows":true}`, "", sdk.StateStreaming)
	v := newView()
	want := "u:go a:+bash+skill+read t:ran\n\n[a person rejected this call. It is kept.] t:used\n\n[applied b]\n\n[" + unknownOutcome + "] t:text"
	for range 2 { // from the cache, too
		if got := sketch(render(t, v, s.assembly()).Messages); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	s.entries[len(s.entries)-1].Body = strings.Repeat("x", 2*maxResult)
	s.entries[len(s.entries)-1].State, s.entries[len(s.entries)-1].Version = sdk.StateResolved, 2
	for _, m := range render(t, v, s.assembly()).Messages {
		if len(m.Text) > maxResult/2 {
			t.Errorf("a remark has %d bytes", len(m.Text))
		}
	}
}
