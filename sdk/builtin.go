package sdk

import (
	"context"
	"encoding/json"
	"slices"
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
	Skills  []string        // the only ones that the agent may use; nil is all
	Agents  []Agent         // those that the run may delegate to: none where it is too far below a prompt of a person
	Finish  *FinishSpec     // what the loop has to hand over; nil where a plain answer ends it
	Admits  func(Tool) bool // whether the agent may use a tool
	Only    string          // the one own tool that the turn has, if any; empty is all
	Team    *Team           // whose Agents the turn makes a plan for; nil where it makes none
	// Commit records what a tool keeps in the run. Nil where there is no run yet.
	Commit func(ctx context.Context, c Change) (Receipt, error)
}

// HasSkill reports whether the agent is told of a skill and may use it, by its name.
func (t TurnContext) HasSkill(name string) bool {
	return t.Skills == nil || slices.Contains(t.Skills, name)
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
	// File is the call of a plugin that a call of a tool with Entries stands for, because what it changes is a file: its
	// target has no scheme. False is one that touches entries alone. An error says why such a call cannot be made.
	File(tool string, arguments json.RawMessage) (FileCall, bool, error)
	// Fill is the arguments of a call that has File copy an entry, with the text that the entry has now; nil where there is
	// nothing to add. An entry that a call before this one in the same answer is going to change is a conflict.
	Fill(ctx context.Context, before []Invocation, call Invocation) (json.RawMessage, error)
	// Invoke runs one call of one of Tools. An error is a call that could not be made.
	Invoke(ctx context.Context, call Invocation, out Stream) (ToolResult, error)
}

// FileCall is the call of a tool of the files plugin that a verb stands for.
type FileCall struct {
	Plugin    string          // whose the tool is
	Tool      string          // as the plugin declares it
	Arguments json.RawMessage // as the tool takes them
	// Moves is the path of an entry that goes once the call has succeeded: Plan of the verb's call says by which write.
	Moves string
}

// TypedPrompt is a prompt that stands for something else than its text, such as
// a skill. People see it as it was typed.
type TypedPrompt interface {
	// Text is what the model reads in the place of the prompt. What the text
	// refers to is there in the run when it returns.
	Text(ctx context.Context, run Run, runDir string) (Meaning, error)
}
