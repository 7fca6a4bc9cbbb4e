package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/bothyd/bothy/sdk"
)

// TestChildrenAreShownFolded: of delegated work the call says how far it is, no block of it stands in the conversation,
// and what waits there is asked here.
func TestChildrenAreShownFolded(t *testing.T) {
	p := newPerson(t, 80, 24)
	p.runID = 1
	row := func(run, loop int64, kind, path, data string) rowCame {
		return rowCame{sdk.JournalRow{Kind: kind, Path: path, Data: json.RawMessage(data), Loop: loop, Turn: 1, Run: run, Time: p.at}}
	}
	p.Update(row(1, 11, sdk.KindLoopStarted, "", "{}"))
	p.Update(row(1, 11, sdk.KindTurnOpened, "", "{}"))
	p.Update(row(1, 11, sdk.KindEntrySet, "log://turn_1/delegate/a", `{"state":"streaming","phase":"started","attributes":{"tool":"delegate","child":{"run":2,"alias":"worker-1","loop":21,"agent":"worker"}}}`))
	p.Update(row(2, 21, sdk.KindLoopStarted, "", "{}"))
	p.Update(row(2, 21, sdk.KindTurnOpened, "", "{}"))
	p.Update(row(2, 21, sdk.KindEntrySet, "log://turn_1/bash/done", `{"state":"resolved","phase":"ended","attributes":{"tool":"bash","arguments":{"command":"a secret step"}}}`))
	if view := bare(p.View().Content); !strings.Contains(view, "worker in worker-1, 1 call") || strings.Contains(view, "a secret step") {
		t.Errorf("it is\n%s", view)
	}
	p.Update(row(2, 21, sdk.KindEntrySet, "log://turn_1/bash/ls", `{"state":"proposed","attributes":{"tool":"bash","proposal":{"id":"p"}}}`))
	if view := bare(p.View().Content); !strings.Contains(view, "waits for you") {
		t.Errorf("it is\n%s", view)
	}
	if at := p.tree.Waits(p.line.Loops[0]); at == nil || at.ProposalID() != "p" {
		t.Errorf("%+v waits", at)
	}
	if p.look(p.line.Loops[0]) == nil {
		t.Error("what waits is not asked")
	}
	p.leftOpen = map[string]bool{"p": true}
	if p.look(p.line.Loops[0]) != nil {
		t.Error("what was left open is asked again")
	}
	p.Update(row(1, 11, sdk.KindEntrySet, "log://turn_1/delegate/b", `{"state":"streaming","phase":"started","attributes":{"tool":"delegate","child":{"run":3,"alias":"worker-2","loop":31,"agent":"worker"}}}`))
	p.Update(row(3, 31, sdk.KindEntrySet, "log://turn_1/bash/ls", `{"state":"proposed","attributes":{"tool":"bash","proposal":{"id":"q"}}}`))
	if p.look(p.line.Loops[0]) == nil {
		t.Error("what another child asks is hidden by what was left open")
	}
	p.leftOpen = nil
	if len(p.line.Loops) != 1 {
		t.Errorf("the conversation has %d prompts", len(p.line.Loops))
	}
	p.Update(row(2, 22, sdk.KindLoopStarted, "", "{}")) // a later prompt to the child
	if p.live.loop == nil || p.live.loop.ID != 11 {
		t.Error("a prompt to a child took the place of the conversation's")
	}
}
