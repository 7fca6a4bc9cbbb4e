package engine

import (
	"cmp"
	"context"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/daemon/internal/guard"
	"github.com/bothyd/bothy/sdk"
)

// watch has the guards watch the loop. What it cost and how often it delegated is counted with the loop that it works
// for, and that of its children with it: of one that an earlier daemon began it is read from the store, all at once, so
// that of several children none goes on before the others are counted.
func (e *Engine) watch(ctx context.Context, a *activeLoop) error {
	l := guard.Loop{
		Rules: e.narrowing(a.project.Root).Guards(a.agent.Guards), Above: a.given().Caller, Past: a.past, Asked: a.asked,
		Counted: a.left,
	}
	for _, turn := range a.had {
		for _, c := range turn.actions {
			if !turn.row.Closed && delegation(c.at) {
				l.Open++
			}
			if c.at.Child == nil {
				continue
			}
			if err := e.usedBelow(ctx, *c.at.Child, &l); err != nil {
				return err
			}
		}
	}
	e.guards.Begin(a.loop.ID, l)
	if a.turn != nil {
		e.guards.Answered(a.loop.ID, a.turn.row.Sequence, a.turn.completion.Usage)
	}
	return nil
}

// delegation reports whether a recorded call began a child, or may do so yet.
func delegation(at sdk.Action) bool {
	return at.Child != nil || !at.State.Ended() && at.Plugin == sdk.OwnPlugin && cmp.Or(at.Declared, at.Tool) == sdk.ToolDelegate
}

// usedBelow adds what the work of a child used so far, and that of its own children.
func (e *Engine) usedBelow(ctx context.Context, child sdk.ActionChild, l *guard.Loop) error {
	loop, err := delegate.Prompt(ctx, e.cfg.Store, child)
	switch {
	case sdk.OutcomeOf(err) == sdk.NotFound: // a person deleted it
		return nil
	case err != nil:
		return err
	}
	turns, err := e.cfg.Store.Turns(ctx, child.Run)
	if err != nil {
		return err
	}
	for _, t := range turns {
		if t.Loop == child.Loop {
			l.Below = append(l.Below, t.Usage)
		}
	}
	asked, err := e.askedIn(ctx, loop)
	if err != nil {
		return err
	}
	for _, c := range asked {
		l.Below = append(l.Below, c.Usage)
	}
	calls, err := e.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: child.Run, Pattern: "log://turn_*/*" + sdk.ToolDelegate + "/*"})
	if err != nil {
		return err
	}
	for _, entry := range calls {
		at, err := sdk.ActionOf(entry)
		if err != nil || !delegation(at) || at.Loop != child.Loop {
			continue
		}
		l.Children++
		if at.Child == nil {
			continue
		}
		if err := e.usedBelow(ctx, *at.Child, l); err != nil {
			return err
		}
	}
	return nil
}
