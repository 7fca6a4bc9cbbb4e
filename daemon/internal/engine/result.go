package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/daemon/internal/agent/finish"
	"github.com/bothyd/bothy/daemon/internal/compact"
	"github.com/bothyd/bothy/daemon/internal/verdict"
	"github.com/bothyd/bothy/sdk"
)

// A loop whose agent has a finish ends by an accepted call of finish_task, whose arguments are its result. That is the
// engine's own ruling, and no hook makes it (decision 97).

// mostUnjudged is how often its validator may fail in a loop before that ends.
const mostUnjudged = 3

// Results are what the engine needs of others to judge a result.
type Results struct {
	// Done is what was done for a prompt and for those before it that it goes on with, by its run and by those to whom work
	// was delegated. Nil is nothing.
	Done func(ctx context.Context, l sdk.Loop, before ...sdk.Loop) ([]sdk.WorkDone, error)
	// Validate asks a plugin about a result, by the plugin's label. An error is that it did not judge. Nil has no
	// plugins that could.
	Validate func(ctx context.Context, plugin string, w sdk.Work) (sdk.Judgement, error)
}

// finishes reports whether the call hands a result over. It is known of a call that an earlier daemon recorded,
// whatever tools there are now.
func (x *action) finishes() bool {
	return x.tool.Given && x.tool.Name == sdk.ToolFinish || x.Plugin == sdk.OwnPlugin && cmp.Or(x.Declared, x.Tool) == sdk.ToolFinish
}

// result is what the turn handed over; nil where it handed nothing over, or there was no turn.
func (t *turn) result() json.RawMessage {
	if t == nil {
		return nil
	}
	for _, x := range t.actions {
		if x.finishes() && x.terminal() {
			return x.Arguments
		}
	}
	return nil
}

// judging is what a call that hands a result over runs: the gates of the loop's finish.
func (e *Engine) judging(a *activeLoop) func(context.Context, sdk.Invocation) (sdk.ToolResult, error) {
	spec := a.agent.Finish
	if spec == nil {
		return func(context.Context, sdk.Invocation) (sdk.ToolResult, error) {
			return sdk.ToolResult{}, sdk.Errorf(sdk.NotFound, "nothing has to be handed over here: answer in plain text")
		}
	}
	gates := finish.Gates{Spec: *spec, Idle: true, Validate: e.cfg.Results.Validate}
	for _, t := range a.offered {
		gates.Idle = gates.Idle && !finish.Works(t.Plugin, cmp.Or(t.Declared, t.Name))
	}
	w := sdk.Work{Agent: a.agent.Name, Run: a.run.Alias, Prompt: a.loop.Prompt, Model: cmp.Or(a.choice.Alias, a.run.Model)}
	l := a.loop
	return func(ctx context.Context, call sdk.Invocation) (r sdk.ToolResult, err error) {
		w.Result, w.CallID, w.Key, w.Project, w.RunDir = call.Arguments, call.CallID, call.Run, call.Project, call.RunDir
		if e.cfg.Results.Done != nil {
			before, err := e.resumed(ctx, l)
			if err == nil {
				w.Done, err = e.cfg.Results.Done(ctx, l, before...)
			}
			if err != nil {
				return r, fmt.Errorf("look at what was done: %w", err)
			}
		}
		err = gates.Judge(ctx, w)
		var unjudged *finish.Unjudged
		switch {
		case err == nil:
			return sdk.ToolResult{Success: true, Output: "accepted"}, nil
		case ctx.Err() != nil:
			return r, ctx.Err()
		case errors.As(err, &unjudged): // no fault of the model's: it counts for no guard
			r = sdk.Failed(sdk.Errorf(sdk.Again, "%w; call %s again with the same arguments", err, sdk.ToolFinish))
			return r, nil
		}
		return sdk.Failed(err), nil
	}
}

// unjudged counts the results of the loop that its validator did not judge.
func (a *activeLoop) unjudged() (n int, last string) {
	for i := range a.mirror.Entries() {
		entry := &a.mirror.Entries()[i]
		if entry.Outcome != sdk.Again || entry.Loop != a.loop.ID || entry.Turn >= a.turn.row.Sequence {
			continue
		}
		at, err := sdk.ActionOf(*entry)
		if x := (&action{Action: at}); err == nil && x.finishes() {
			n++
		}
	}
	for _, x := range a.turn.actions {
		if x.Outcome == sdk.Again && x.finishes() {
			n, last = n+1, x.Body
		}
	}
	return n, last
}

// ruling is what the turn means, before anybody is asked.
func (a *activeLoop) ruling() sdk.Ruling {
	if a.given().Compacts {
		return compact.Rule(a.turn.completion, len(a.turn.errors))
	}
	t := a.turn
	calls := claims(t.actions)
	if a.agent.Dialect == sdk.DialectTags && a.agent.Finish == nil {
		calls = verdict.Acts(calls)
	}
	r := verdict.Of(verdict.Turn{Calls: calls, Completion: t.completion, Errors: t.errors, Owes: a.agent.Finish != nil, Plain: a.plain})
	if a.team.goesOn() && r.Stop != sdk.StopRejected {
		return verdict.GoesOn
	}
	if a.agent.Finish != nil && r.Continue {
		if n, last := a.unjudged(); n >= mostUnjudged && last != "" {
			return verdict.Failed(fmt.Sprintf("the result could not be judged %d times: %s", n, sdk.Excerpt(last)))
		}
	}
	return r
}

// correct tells the model, with the turn that is opened next, that its answer in plain text does not end the work.
func (a *activeLoop) correct() {
	if a.agent.Finish == nil || len(a.turn.actions) > 0 || verdict.Warned(a.turn.errors) || a.team.goesOn() {
		a.plain = 0
		return
	}
	a.plain++
	text := verdict.Correction(a.plain, a.team != nil)
	turn := a.turn.row.Sequence
	a.first = append(a.first, sdk.Write{
		Path: sdk.CorrectionPath(turn), Body: &text, Writer: sdk.WriterSystem, State: sdk.StateResolved, Loop: a.loop.ID, Turn: turn,
	})
}
