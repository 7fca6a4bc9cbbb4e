package engine

import (
	"context"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// Builtin is where the daemon's own tools come from: those that belong to no
// plugin (package builtin). Own takes them as they are at this moment for one
// turn of a run, which keeps them to its end whatever changes meanwhile.
type Builtin interface {
	Own(ctx context.Context, t Taking) (Own, error)
}

// Taking says for whom the own tools are taken.
type Taking struct {
	Project sdk.Project
	Run     sdk.Run
	Loop    sdk.Loop
	Agent   sdk.Agent
	Tools   []sdk.Tool // the plugins' tools that the turn offers
	Context int        // the model's window in tokens; 0 is unknown
}

// Own are the daemon's own tools for one turn.
type Own interface {
	// Tools are what the model is offered beside the plugins' tools. They pass
	// policy like any other.
	Tools() []sdk.Tool
	// System joins the system text; empty is nothing. It must not differ from
	// turn to turn while nothing changed, so that servers can keep the prompt.
	System() string
	// Once reports whether this call must not be made a second time after a
	// crash, though its tool says read_only: it starts what is not.
	Once(tool string, arguments json.RawMessage) bool
	// Invoke runs one call of one of Tools. An error is a call that could not be made.
	Invoke(ctx context.Context, call sdk.Invocation, out Stream) (sdk.ToolResult, error)
}
