package builtin

import (
	"context"
	"encoding/json"

	agentplan "github.com/bothyd/bothy/daemon/internal/agent/plan"
	"github.com/bothyd/bothy/sdk"
)

// mostTries bounds how often a call is made anew, since another one wrote a step.
const mostTries = 50

var planSpec = sdk.Tool{
	ToolSpec: sdk.ToolSpec{
		Name:        sdk.ToolPlan,
		Description: "Marks, rewords and adds steps of the plan, and tells how far it is. Mark a step doing when you begin it and done once it is; drop one, with a note that says why, that turns out not to be needed. Without steps it changes nothing and only tells.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"steps":{"type":"array","maxItems":50,"items":{"type":"object","properties":{` +
			`"number":{"type":"integer","minimum":1,"description":"of the step; left out for a new one, which goes behind the others"},` +
			`"status":{"type":"string","enum":["open","doing","done","dropped"]},` +
			`"text":{"type":"string","minLength":1,"description":"what is to be done, where it is to be said in other words, or the step is new"},` +
			`"note":{"type":"string","description":"what came of it, in a sentence"}},"additionalProperties":false}}},"additionalProperties":false}`),
		Annotations: sdk.Annotations{ReadOnly: true, Idempotent: true},
	},
	Plugin: Plugin, Pinned: true,
}

// planTool is plan.
type planTool struct{ cfg Config }

// planTurn is plan for one turn.
type planTurn struct {
	cfg  Config
	turn sdk.TurnContext
	spec sdk.Tool
	has  bool // the run has a plan
}

// take implements tool. Every agent has the tool in a run with a plan; in another one it is offered to an agent that
// names it, which then makes a plan of its own.
func (p planTool) take(ctx context.Context, t sdk.TurnContext) (turnTool, error) {
	if t.Run.ID == 0 || t.Commit == nil {
		return nil, nil
	}
	_, err := p.cfg.Entries.Entry(ctx, t.Run.ID, sdk.PlanPath(1))
	turn := planTurn{p.cfg, t, planSpec, err == nil}
	turn.spec.Given, turn.spec.Named = turn.has, !turn.has
	switch {
	case err != nil && sdk.OutcomeOf(err) != sdk.NotFound:
		return nil, err
	case !turn.has && (t.Admits == nil || !t.Admits(turn.spec)):
		return nil, nil
	}
	return turn, nil
}

func (p planTurn) tool() sdk.Tool                             { return p.spec }
func (p planTurn) once(context.Context, json.RawMessage) bool { return false }

// system does not differ while steps are marked, so that servers can keep the prompt.
func (p planTurn) system() string {
	if !p.has {
		return ""
	}
	return "This run has a plan, whose steps people see. Keep it true with the tool " + sdk.ToolPlan + ": mark each step when you begin it and when it is done."
}

// invoke changes steps, all that a call names or none, and tells the plan.
func (p planTurn) invoke(ctx context.Context, call sdk.Invocation, _ sdk.Stream) (sdk.ToolResult, error) {
	var a struct {
		Steps []agentplan.Edit `json:"steps"`
	}
	if err := sdk.ReadJSON(call.Arguments, &a); err != nil {
		return sdk.Failed(sdk.Errorf(sdk.Validation, "the arguments of %s cannot be read: it takes steps, a list of steps with number, status, text and note: %w", sdk.ToolPlan, err)), nil
	}
	for tries := 1; ; tries++ {
		steps, err := p.apply(ctx, a.Steps)
		switch {
		case sdk.OutcomeOf(err) == sdk.Conflict && tries < mostTries && ctx.Err() == nil: // another call wrote one of them
			continue
		case err != nil:
			return sdk.Failed(err), nil
		}
		return sdk.ToolResult{Success: true, Output: agentplan.Progress(steps)}, nil
	}
}

func (p planTurn) apply(ctx context.Context, edits []agentplan.Edit) ([]sdk.PlanStep, error) {
	entries, err := p.cfg.Entries.Entries(ctx, sdk.EntryQuery{Run: p.turn.Run.ID, Pattern: agentplan.Pattern})
	if err != nil {
		return nil, err
	}
	steps, changed, err := agentplan.Apply(sdk.PlanOf(entries), edits)
	if err != nil || len(changed) == 0 {
		return steps, err
	}
	change := sdk.Change{Run: p.turn.Run.ID}
	for _, s := range changed {
		w := agentplan.Write(s)
		w.Create, w.Loop, w.Turn = s.Version == 0, p.turn.Loop.ID, p.turn.Run.Turns
		change.Writes = append(change.Writes, w)
	}
	_, err = p.turn.Commit(ctx, change)
	return steps, err
}
