package engine

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/rulebook"
	"github.com/bothyd/bothy/sdk"
)

// call is what is asked about, as a rule speaks of it.
func (q *question) call() rulebook.Call {
	x := q.x
	return rulebook.Call{Tool: x.tool, Arguments: x.meant(), Project: q.a.project.Root, Private: x.folder != "", Decision: x.decision(), Proposal: x.Proposal}
}

// offers are the rules that an answer to what waits could leave. One that is not there cannot be left.
func (e *Engine) offers(ctx context.Context, event sdk.EntryEvent) []sdk.Offer {
	q, err := e.ponder(ctx, event)
	if err != nil || q.gone != nil || q.x.Asks || q.x.tool.Drift != "" {
		return nil // it cannot be accepted, or only once: no rule allows what drifted
	}
	return q.call().Offers(e.cfg.Clock())
}
