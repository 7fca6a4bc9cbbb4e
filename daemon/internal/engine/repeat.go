package engine

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// repeatNote stands behind the result that answers a call which was not made.
const repeatNote = "(This call was not made: it is the same as the one before it, and this is what that one came to. " +
	"Making it once more ends the work. Do something else, or finish.)"

// answerRepeated ends the actions whose answer is the result of an earlier one, when
// that has its end. A side effect that failed gives up the rest of the turn here too.
func (e *Engine) answerRepeated(ctx context.Context, a *activeLoop) {
	for _, x := range a.turn.actions {
		if x.ended() || x.Repeats == "" {
			continue
		}
		first, err := e.repeated(ctx, a, x.Repeats)
		switch {
		case err != nil:
			x.refuse(sdk.Errorf(sdk.OutcomeOf(err), "this call was not made: it is the same as the one before it, whose result is not there any more: %w", err))
		case first.State.Ended():
			x.repeat(first)
		}
		if x.breaks() {
			e.giveUpRest(a.turn)
		}
	}
}

// repeated is an action of the run, of this turn or an earlier one.
func (e *Engine) repeated(ctx context.Context, a *activeLoop, path string) (sdk.Action, error) {
	for _, x := range a.turn.actions {
		if x.Path == path {
			return x.Action, nil
		}
	}
	entry, err := e.cfg.Store.Entry(ctx, a.run.ID, path)
	if err != nil {
		return sdk.Action{}, err
	}
	return sdk.ActionOf(entry)
}

// repeat ends an action of which nothing runs with what another one came to.
func (x *action) repeat(first sdk.Action) {
	r := sdk.ToolResult{Output: first.Body + "\n\n" + repeatNote, Outcome: first.Outcome, Error: first.Error, Truncated: first.Truncated}
	if first.State == sdk.StateResolved {
		x.end(refused, sdk.StateResolved, r)
		return
	}
	x.end(refused, sdk.StateFailed, r)
	if first.State == sdk.StateCancelled { // it counts as a call, as the first does
		x.cancel(first.Outcome)
	}
}
