package main

import (
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/timeline"
)

// below shows of delegated work which calls were made, folded: a line each, once it has ended.
func (p *progress) below(row sdk.JournalRow, chain []timeline.Call, c timeline.Change) {
	a := c.Action
	if a == nil || row.Kind != sdk.KindEntrySet {
		return
	}
	switch {
	case p.loop.Waits() != nil:
		p.wait.work("")
	case a.Phase == sdk.PhaseStarted && !a.State.Ended():
		p.wait.work(show.Chain(chain) + ": " + show.ActionName(a.Path) + " works")
	}
	if a.State.Ended() {
		p.draw(show.Below(chain, &a.Action, p.c.errWidth()))
	}
}
