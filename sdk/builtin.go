package sdk

import (
	"context"
	"encoding/json"
)

// TurnContext says for which turn the daemon's own tools are taken. Where there
// is no run yet its fields are empty.
type TurnContext struct {
	Project string // absolute path; empty without one
	Run     Run
	RunDir  string
	Loop    Loop // none: a person makes the call
	Model   string
	Tools   []Tool          // the plugins' tools that the turn offers
	Context int             // the model's window in tokens; 0 is unknown
	Admits  func(Tool) bool // whether the agent may use a tool
	// Commit records what a tool keeps in the run. Nil where there is no run yet.
	Commit func(ctx context.Context, c Change) (Receipt, error)
}

// TurnTools are the daemon's own tools as one turn has them, whatever changes
// meanwhile.
type TurnTools interface {
	// Tools are what the model is offered beside the plugins' tools. They pass
	// policy like any other. Their names go before those of plugins.
	Tools() []Tool
	// System joins the system text; empty is nothing. It must not differ from
	// turn to turn while nothing changed, so that servers can keep the prompt.
	System() string
	// Once reports whether this call must not be made a second time after a
	// crash, though its tool says read_only: it starts what is not. Policy judges
	// it as such.
	Once(ctx context.Context, tool string, arguments json.RawMessage) bool
	// Ends is the status with which this call ends the loop when it succeeds: 200, 204 or 422; 0
	// does not.
	Ends(tool string, arguments json.RawMessage) int
	// Question is what a call of ToolAskUser asks the person: the answer, a text, is its result. An
	// error, with Validation, is a call that asks nothing.
	Question(arguments json.RawMessage) (Question, error)
	// Plan says what calls of tools with Entries come to, in their order and each upon what those before it are going to
	// write (ToolResult.Writes). It writes nothing, so it may be asked again.
	Plan(ctx context.Context, calls []Invocation) []ToolResult
	// Invoke runs one call of one of Tools. An error is a call that could not be made.
	Invoke(ctx context.Context, call Invocation, out Stream) (ToolResult, error)
}

// TypedPrompt is a prompt that stands for something else than its text, such as
// a skill. People see it as it was typed.
type TypedPrompt interface {
	// Text is what the model reads in the place of the prompt. What the text
	// refers to is there in the run when it returns.
	Text(ctx context.Context, run Run, runDir string) (Meaning, error)
}
