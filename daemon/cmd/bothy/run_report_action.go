package main

import (
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

// action draws a call as it is drawn while it is followed, in full with its arguments one
// below the other.
func (t *runReport) action(e rpc.Event) {
	a := actionOf(e)
	v := show.View{Width: max(t.width-4, 0), Head: show.ResultHead, Tail: show.ResultTail}
	if e.Cut > 0 {
		v.Bytes = len(e.Body) + e.Cut
	}
	if t.full {
		v.Head, v.Tail, v.Width = 0, 0, 0
		lines := show.Action(&a, v)
		if e.Tool == sdk.ErrorTool {
			t.draw(4, lines)
			return
		}
		t.draw(4, lines[:1])
		t.arguments(a.Arguments)
		t.draw(4, show.Result(&a, v))
		return
	}
	t.draw(4, show.Action(&a, v))
}

// draw writes lines behind an indent.
func (t *runReport) draw(by int, lines []show.Spans) {
	for _, l := range lines {
		t.b.WriteString(strings.Repeat(" ", by) + l.String() + "\n")
	}
}

// actionOf is the action that a part of a run's history is.
func actionOf(e rpc.Event) sdk.Action {
	entry := sdk.Entry{Path: e.Path, State: e.State, Outcome: e.Outcome, Body: e.Body}
	entry.Attributes, _ = e.Attributes.Object() // it was JSON before
	a, _ := sdk.ActionOf(entry)                 // what can be read of it is told
	if a.Tool == "" {
		a.Tool = e.Tool
	}
	return a
}

// arguments writes a call's arguments one below the other, and texts as they
// are.
func (t *runReport) arguments(raw json.RawMessage) {
	names, values, ok := show.Members(raw)
	if !ok {
		t.line(6, string(raw))
		return
	}
	for i, name := range names {
		var text string
		if json.Unmarshal(values[i], &text) != nil {
			text = string(values[i])
		}
		t.hang(6, 2, show.Line(name)+": "+text)
	}
}
