// Package tool is the plugin kind that gives a model something to do.
//
// A plugin implements Tool, mostly by handing typed functions to New, and
// serves it with sdk/plugin. The host validates a call's arguments against the
// declared JSON Schema before Invoke sees them.
package tool

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// Tool serves one or more tools. Both methods may be called concurrently.
type Tool interface {
	// Tools declares what there is. The host asks once after Configure, and
	// again when the plugin says that its manifest changed.
	Tools() []sdk.ToolSpec

	// Invoke runs one call. It returns a result also when the work failed; an
	// error is for a call that could not be made and reaches the model as
	// outcome internal, or as the outcome of an *sdk.Error. It must return
	// soon after ctx ends: the host kills a plugin that does not.
	Invoke(ctx context.Context, call sdk.Invocation, out Stream) (sdk.ToolResult, error)
}

// Settler is what a Tool also is when it can say what a call came to that an
// earlier process of it had begun, and whose end nobody recorded.
type Settler interface {
	// Settle answers what Invoke would have answered. It must not begin the
	// work, nor wait for it: what still runs is ended and is no result. An error
	// says that nobody knows; no result may be a guess, since a model takes it
	// for what happened. It may be asked again for the same call, and answers
	// the same until another call of the run begins. The daemon's services
	// cannot be reached from it.
	Settle(ctx context.Context, call sdk.Invocation) (sdk.ToolResult, error)
}

// Stager is what a Tool also is when some of its tools can say what a call would
// change in files (sdk.ToolSpec.Staged), so that a person who is asked sees it; or, of a tool that has a command
// too, which line it would run (sdk.ToolSpec.FindsCommand).
type Stager interface {
	// Stage changes nothing. What it answers is bound to the state that it saw:
	// an Invoke with that Base refuses with conflict when it is another by then.
	Stage(ctx context.Context, call sdk.Invocation) (sdk.Staged, error)
}

// Preparer is what a Tool also is when some of its tools can make ready what
// their calls in a run need (sdk.ToolSpec.Prepares), which takes time.
type Preparer interface {
	// Prepare is called while a model thinks of what may be the first call, and
	// again whenever it begins to think of a new prompt: what is ready already
	// costs nothing. It makes no call and changes nothing that anybody but the
	// tool sees. A call that comes meanwhile waits for it or does the same work;
	// ctx may end at any time, and what was begun must leave nothing behind that a
	// call would trip over. An error is told to nobody but the log.
	Prepare(ctx context.Context, at sdk.Place) (sdk.Prepared, error)
}

// Stream is where a call sends what is known before its result.
type Stream = sdk.Stream
