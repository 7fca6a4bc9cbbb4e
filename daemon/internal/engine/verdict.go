package engine

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// verdict rules whether the loop goes on: first by what the turn did, then by
// the filters of turn.verdict, of which the guards are some. A filter can end
// the loop and not keep it going; one that fails ends it.
func (e *Engine) verdict(ctx context.Context, a *activeLoop) (sdk.Ruling, error) {
	result := a.turnResult(a.ruling())
	result.Duration = sdk.Duration(time.Since(a.turn.began))
	e.cfg.Hooks.TurnCompleted.Emit(ctx, result)
	e.cfg.Hooks.RunState.Emit(ctx, a.turnEvent(map[string]any{"status": sdk.StatusRunning}))
	e.cfg.Hooks.RunStepCompleted.Emit(ctx, sdk.LoopEvent{Project: a.project.ID, Run: a.run.ForHook(), Loop: a.loop.ForHook(), Turns: a.turns})
	ruled, err := e.cfg.Hooks.TurnVerdict.Apply(ctx, result)
	if err != nil {
		return sdk.Ruling{}, err
	}
	if remark := e.guards.Remark(a.loop.ID); remark != "" {
		a.turn.note(sdk.KindNoteWarning, a.loop.ID, map[string]string{"message": remark})
	}
	r := ruled.Ruling
	if r.Continue {
		a.correct()
		return r, e.advance(ctx, a)
	}
	switch r.Status {
	case sdk.StatusOK, sdk.StatusNoContent, sdk.StatusOverflow, sdk.StatusUnable, sdk.StatusAborted, sdk.StatusFailed:
	default:
		return sdk.Ruling{}, fmt.Errorf("a hook of turn.verdict ended the loop with the status %d, which no loop can have", r.Status)
	}
	r.Stop = cmp.Or(r.Stop, sdk.StopFailed)
	r.Reason = cmp.Or(r.Reason, "a hook of turn.verdict ended the work and gave no reason")
	return r, nil
}

// ruling is what the turn itself means, whatever its loop has to hand over.
func (t *turn) ruling() sdk.Ruling {
	for _, x := range t.actions {
		if x.terminal() {
			return sdk.Ruling{Status: cmp.Or(x.ends, sdk.StatusOK), Stop: sdk.StopTerminal, Reason: cmp.Or(x.tool.Name, x.Tool) + " ended the work"}
		}
		if x.rejected() && x.Answer.Reason == "" { // with one the model goes on by it
			return sdk.Ruling{Status: sdk.StatusOK, Stop: sdk.StopRejected, Reason: "a person rejected " + x.tool.Name}
		}
	}
	c := &t.completion
	switch {
	case len(t.actions) > 0:
		return sdk.Ruling{Continue: true, Status: sdk.StatusRunning}
	case c.Finish == "length":
		return failed("the answer was cut off: it reached the longest that the model or max_tokens allows")
	case c.Finish == "filter":
		return failed("the provider's content filter ended the answer")
	case c.Finish == "calls":
		return failed("the model said that it calls tools, and sent no call")
	case c.Text == "":
		return sdk.Ruling{Status: sdk.StatusNoContent, Stop: sdk.StopAnswer, Reason: "the model ended its work without a word"}
	default:
		return sdk.Ruling{Status: sdk.StatusOK, Stop: sdk.StopAnswer, Reason: "the model answered"}
	}
}

func failed(reason string) sdk.Ruling {
	return sdk.Ruling{Status: sdk.StatusFailed, Stop: sdk.StopFailed, Reason: reason}
}
