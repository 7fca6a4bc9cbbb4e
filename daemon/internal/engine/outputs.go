package engine

import (
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// What a command of sh or env prints is data, beside the action that tells of the call:
// sh://turn_N/SLUG_1 is standard output, _2 standard error. They are made by the commit that begins the call, grow
// in chunks, and end with the commit that ends it: one that ends well is 200, one that fails 500, and what
// was cut short 499.

// outputs are the paths of the entries in which the output of a command is.
func (x *action) outputs() []string { return outputsOf(x.Path) }

func outputsOf(path string) []string {
	at, ok := sdk.ParseActionPath(path)
	if !ok {
		return nil
	}
	return []string{at.Output(1), at.Output(2)}
}

// outputWrites make the entries of commands that begin.
func outputWrites(begun []*action) (writes []sdk.Write) {
	for _, x := range begun {
		if !x.Streams || x.ended() {
			continue
		}
		for _, path := range x.outputs() {
			empty := ""
			writes = append(writes, sdk.Write{
				Path: path, Body: &empty, State: sdk.StateStreaming, Visibility: sdk.Summarized, Writer: sdk.WriterSystem, Loop: x.Loop, Turn: x.Turn,
				Attributes: encode(map[string]string{"summary": sdk.Head(sdk.Excerpt(x.command()), 80), "action": x.Path}),
			})
		}
	}
	return writes
}

// outputEnds end the entries of commands that have ended, with what of their output is not committed yet.
func outputEnds(over []*action) (writes []sdk.Write) {
	for _, x := range over {
		if !x.Streams || x.entry.Phase != sdk.PhaseStarted {
			continue
		}
		if x.printed == nil {
			writes = append(writes, x.rest...)
		}
		state, outcome := outputEnd(x.State, x.Outcome)
		for i, path := range x.outputs() {
			w := sdk.Write{Path: path, State: state, Outcome: outcome, Writer: sdk.WriterSystem, Loop: x.Loop, Turn: x.Turn}
			if x.printed != nil {
				w.Body = &x.printed[i]
			}
			writes = append(writes, w)
		}
	}
	return writes
}

// outputEnd is the end of output whose command ended so: at 200, 499 or 500.
func outputEnd(state sdk.State, outcome sdk.Outcome) (sdk.State, sdk.Outcome) {
	if state != sdk.StateFailed || slices.Contains([]int{sdk.StatusAborted, sdk.StatusFailed}, sdk.Status(state, outcome)) {
		return state, outcome
	}
	return state, sdk.Internal
}
