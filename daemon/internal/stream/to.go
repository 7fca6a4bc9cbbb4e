// Package stream takes what comes piece by piece while a call or a model is at work: it keeps it in pieces, so that
// what came is there after a crash and people see it grow, and puts an answer together.
package stream

import (
	"context"
	"encoding/json"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/sdk"
)

// Pieces takes secrets out of a text that comes in pieces: what Write returns is
// clear, End returns the rest. A secret that is cut in two is found.
type Pieces interface {
	Write(piece string) string
	End() string
}

// Clear are the Pieces of a text in which nothing is secret.
type Clear struct{}

// Write implements [Pieces].
func (Clear) Write(piece string) string { return piece }

// End implements [Pieces].
func (Clear) End() string { return "" }

// To is what a stream needs of others.
type To struct {
	Commit    func(context.Context, sdk.Change) (sdk.Receipt, error)
	Redacting func() Pieces // begins a text
	Log       hclog.Logger
}

// Output is the stream of an action, whose entry is there. Places are the entries in which its output is, by channel;
// without any the action's own holds it.
func (to To) Output(run int64, x sdk.Action, places []string) *Stream {
	return &Stream{to: to, run: run, loop: x.Loop, turn: x.Turn, path: x.Path, keep: maxSent, places: places}
}

// The channels of an answer's stream.
const (
	ChannelText      = 1
	ChannelReasoning = 2
)

// Answer is the stream of an answer on its way, of a turn of the run. Its first piece makes assistant://N, and drops
// what an earlier try has left there.
func (to To) Answer(run int64, loop sdk.Loop, turn int, model string) *Stream {
	at, _ := json.Marshal(sdk.Reply{Model: model}) // of texts alone
	empty, path := "", sdk.ReplyPath(turn)
	return &Stream{to: to, run: run, loop: loop.ID, turn: turn, path: path, fresh: true, begin: &sdk.Write{
		Path: path, Body: &empty, Attributes: at, State: sdk.StateStreaming, Writer: sdk.WriterSystem, Loop: loop.ID, Turn: turn,
	}}
}
