package hook

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"

	"github.com/bothyd/bothy/sdk"
)

// Call is a call of a tool in a run. Tool is the name that the tool's plugin declares and
// Plugin the block of that plugin, by whichever of its names it was called, also where
// another block has a tool of that name: a rule compares with them. Plugin is empty where the tool is the daemon's own, or there is none of the name.
// Who made the call says Parent: the path of the action whose plugin did, empty where the
// model did.
type Call struct {
	Run   int64  // the run's id
	Wrote string // the name by which the tool was called: perhaps plugin__name
	sdk.Action
}

// callOf is the call of an action.
func callOf(run int64, a sdk.Action) Call {
	c := Call{Run: run, Wrote: a.Tool, Action: a}
	c.Tool = cmp.Or(a.Declared, a.Tool)
	return c
}

// BeforeCall is asked about each call before it is recorded, judged and made
// (the filter entry.recording). The Arguments that fn returns take the place of
// the call's; nothing else of what it returns counts. An error refuses the call,
// and its words are what the model reads: an *sdk.Error keeps its outcome, any
// other one is permission. A plugin that is not there or does not answer in time
// refuses, too. A call that was refused before is not asked about.
func BeforeCall(fn func(ctx context.Context, call Call) (Call, error)) Func {
	return Filter("entry.recording", func(ctx context.Context, r sdk.Recording) (sdk.Recording, error) {
		if r.State != sdk.StateStreaming {
			return r, nil
		}
		a, err := sdk.ActionOf(sdk.Entry{Path: r.Path, Loop: r.Loop, Turn: r.Turn, State: r.State, Body: r.Body, Attributes: r.Attributes})
		if err != nil {
			return r, err
		}
		was := a.Arguments
		call, err := fn(ctx, callOf(r.Run, a))
		if err != nil {
			r.State, r.Outcome, r.Body = sdk.StateFailed, sdk.Permission, err.Error()
			var own *sdk.Error
			if errors.As(err, &own) {
				r.Outcome = own.Outcome
			}
			return r, nil
		}
		if bytes.Equal(call.Arguments, was) {
			return r, nil
		}
		var attributes map[string]json.RawMessage
		if err := json.Unmarshal(r.Attributes, &attributes); err != nil {
			return r, err
		}
		attributes["arguments"] = call.Arguments
		r.Attributes, err = json.Marshal(attributes)
		return r, err
	})
}

// AfterCall hears of each call that was made, when it has ended (the event
// tool.after). State, Outcome and Body say how.
func AfterCall(fn func(ctx context.Context, call Call) error) Func {
	return On("tool.after", func(ctx context.Context, e sdk.EntryEvent) error {
		a, err := sdk.ActionOf(e.Entry)
		if err != nil {
			return err
		}
		return fn(ctx, callOf(e.Run, a))
	})
}

// AfterRest hears of each run in which nobody goes on, with the prompts since it rested last, until fn returns nil (the event
// run.rested). Within fn the daemon's services work (host.From) as within a call, but for tools. A run may be told of twice.
func AfterRest(fn func(ctx context.Context, rest sdk.Rest) error) Func {
	return On("run.rested", fn)
}

// AfterLoop hears of each prompt when all of its turns are over, however it ended
// (the event loop.completed).
func AfterLoop(fn func(ctx context.Context, loop sdk.LoopEvent) error) Func {
	return On("loop.completed", fn)
}
