package engine

import (
	"github.com/bothyd/bothy/daemon/internal/command"
	"github.com/bothyd/bothy/sdk"
)

// outputWrites make the entries of commands that begin.
func outputWrites(begun []*action) (writes []sdk.Write) {
	for _, x := range begun {
		if x.Streams && !x.ended() {
			writes = append(writes, command.Begun(x.Action, x.command())...)
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
		state, outcome := command.End(x.State, x.Outcome)
		for i, path := range command.Outputs(x.Path) {
			w := sdk.Write{Path: path, State: state, Outcome: outcome, Writer: sdk.WriterSystem, Loop: x.Loop, Turn: x.Turn}
			if x.printed != nil {
				w.Body = &x.printed[i]
			}
			writes = append(writes, w)
		}
	}
	return writes
}

// ranAs is what a call came to, as its action keeps it: one of sh or env names its output.
func (x *action) ranAs(r sdk.ToolResult, bytes [2]int) (as sdk.ToolResult, whole *[2]string) {
	if !x.Streams {
		return r, nil
	}
	return command.Ran(x.Path, x.command(), r, bytes)
}
