package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/timeline"
)

// child takes in a row of a run that work was delegated to: the call that it is for says how far that is, and what
// waits for an answer is asked.
func (t *teller) child(row sdk.JournalRow, c timeline.Change) {
	top := t.tree.Top(c.Loop)
	if top == nil {
		return
	}
	chain, is := t.tree.Chain(c.Loop, top)
	if !is || len(chain) == 0 { // a later prompt of its own
		return
	}
	at := t.calls[chain[0].Action.Path]
	if at != nil && c.Action != nil && row.Kind == sdk.KindEntrySet && !t.past && !at.action.State.Ended() {
		t.tellCall(at, false)
	}
	t.question(top)
}

// work says how far the work is that a call delegated; empty for every other call.
func (t *teller) work(a *timeline.Action) string {
	if a.Child == nil {
		return ""
	}
	return show.Work(*a.Child, t.tree.Delegated(a))
}
