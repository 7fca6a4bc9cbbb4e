package engine

import (
	"context"
	"encoding/json"
	"reflect"

	"github.com/bothyd/bothy/sdk"
)

// Explanation is why an action ran, waited or was refused.
type Explanation struct {
	Run       sdk.Run
	Entry     sdk.Entry
	Tool      string
	Arguments json.RawMessage
	Command   string
	Decision  sdk.Decision  // as it was made; no verdict when nobody was asked
	Now       *sdk.Decision // what would be ruled now, when that differs and can be said
	Answer    sdk.Answer
	By        string // who agreed: "a client", "remembered", "yolo"
}

// Explain reads what is recorded about an action, and asks policy what it would
// rule now, with the leave that the prompt had and somebody there to ask.
func (e *Engine) Explain(ctx context.Context, run int64, path string) (Explanation, error) {
	entry, err := e.cfg.Store.Entry(ctx, run, path)
	if err != nil {
		return Explanation{}, err
	}
	if entry.Phase == sdk.PhaseNone {
		return Explanation{}, sdk.Errorf(sdk.Validation, "%s is no action, so nothing was decided about it; `bothy runs show` names the actions of a run", path)
	}
	c, err := readCall(entry)
	if err != nil {
		return Explanation{}, err
	}
	x := Explanation{Entry: entry, Tool: c.Tool, Arguments: c.args}
	if x.Run, err = e.cfg.Store.Run(ctx, run); err != nil {
		return x, err
	}
	if c.Decision != nil {
		x.Decision = *c.Decision
	}
	if c.Proposal != nil {
		x.Command = c.Proposal.Command
	}
	switch {
	case c.Answer != nil:
		x.Answer, x.By = c.Answer.Answer, c.Answer.By
	case x.Decision.Source == "remembered":
		x.By = "remembered"
	}
	q, err := e.ponder(ctx, sdk.EntryEvent{Run: run, Entry: entry})
	if err != nil || q.gone != nil { // its tool or agent is gone: what is recorded stands
		return x, nil
	}
	if all, err := e.grantedAll(ctx, x.Run); err == nil && all && x.By == "" && q.a.leave == sdk.LeaveFull && x.Decision.Verdict == sdk.Allow {
		x.By = "yolo"
	}
	q.x.arguments = c.args
	x.Command = first(x.Command, commandOf(q.x.tool, c.args))
	now := e.decide(q.a, q.x, true)
	now.Argv = nil
	if x.Decision.Argv = nil; !reflect.DeepEqual(now, x.Decision) {
		x.Now = &now
	}
	return x, nil
}
