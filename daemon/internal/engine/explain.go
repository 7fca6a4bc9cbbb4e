package engine

import (
	"cmp"
	"context"
	"reflect"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Explain reads what is recorded about an action, and asks policy what it would
// rule now, with the mode that the prompt had and somebody there to ask.
func (e *Engine) Explain(ctx context.Context, run int64, path string) (rpc.Explained, error) {
	entry, err := e.cfg.Store.Entry(ctx, run, path)
	if err != nil {
		return rpc.Explained{}, err
	}
	if entry.Phase == sdk.PhaseNone {
		return rpc.Explained{}, sdk.Errorf(sdk.Validation, "%s is no action, so nothing was decided about it; `bothy runs show` names the actions of a run", path)
	}
	c, err := sdk.ActionOf(entry)
	if err != nil {
		return rpc.Explained{}, err
	}
	row, err := e.cfg.Store.Run(ctx, run)
	if err != nil {
		return rpc.Explained{}, err
	}
	x := rpc.Explained{Run: row.Alias, Path: entry.Path, Tool: c.Tool, Arguments: c.ExactArguments(), Status: entry.Status(), Outcome: entry.Outcome}
	if c.Decision != nil {
		x.Decision = *c.Decision
	}
	if c.Proposal != nil {
		x.Command = c.Proposal.Command
	}
	switch {
	case c.Answer != nil:
		x.Answer, x.AnsweredBy = c.Answer.Answer, c.Answer.By
	case x.Decision.Source == "remembered":
		x.AnsweredBy = "remembered"
	}
	q, err := e.ponder(ctx, sdk.EntryEvent{Run: run, Entry: entry})
	if err != nil || q.gone != nil || q.x.Asks { // its tool or agent is gone, or policy has no say: what is recorded stands
		return x, nil
	}
	if all, err := e.grantedAll(ctx, row); err == nil && all && x.AnsweredBy == "" && q.a.mode == sdk.ModeFull && x.Decision.Verdict == sdk.Allow {
		x.AnsweredBy = "yolo"
	}
	q.x.Arguments = x.Arguments
	x.Command = cmp.Or(x.Command, q.x.calling(q.a.run).Command())
	now := e.decide(q.a, q.x, true)
	now.Argv = nil
	if x.Decision.Argv = nil; !reflect.DeepEqual(now, x.Decision) {
		x.Now = &now
	}
	return x, nil
}
