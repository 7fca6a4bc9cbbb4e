package engine

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/bothyd/bothy/daemon/internal/stream"
	"github.com/bothyd/bothy/sdk"
)

// Store is what the engine needs of the store. Each method that writes is one
// durable commit.
type Store interface {
	Commit(ctx context.Context, c sdk.Change) (sdk.Receipt, error)
	Entry(ctx context.Context, run int64, path string) (sdk.Entry, error)
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
	Scheme(name string) (sdk.Scheme, bool)
	Chunks(ctx context.Context, run int64, path string) ([]sdk.Chunk, error) // of a stream that has not ended
	Journal(ctx context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error)
	Proposed(ctx context.Context) ([]sdk.EntryEvent, error)  // what waits for a person, oldest first
	Streaming(ctx context.Context) ([]sdk.EntryEvent, error) // output of commands that has not ended, without bodies
	Answered(ctx context.Context, project, run int64, id string, limit int) ([]sdk.EntryEvent, error)
	Seq() int64
	Changed() <-chan struct{} // closed after the next commit

	OpenProject(ctx context.Context, root string) (sdk.Project, error)
	Project(ctx context.Context, id int64) (sdk.Project, error)
	CreateRun(ctx context.Context, r sdk.Run, writes ...sdk.Write) (sdk.Run, error) // which it has from its first moment
	Run(ctx context.Context, id int64) (sdk.Run, error)
	Delegators(ctx context.Context, run int64) ([]sdk.Run, error) // of a child, the first of all first
	RunByAlias(ctx context.Context, project int64, alias string) (sdk.Run, error)
	Enqueue(ctx context.Context, l sdk.Loop) (sdk.Loop, sdk.Receipt, error)
	Begin(ctx context.Context, l sdk.Loop) (sdk.Loop, sdk.Receipt, error) // Enqueue, claimed where the run works on nothing
	Given(ctx context.Context, key string) (sdk.Loop, int64, error)       // by Loop.Options.key, with the position behind its prompt
	ClaimLoop(ctx context.Context, run int64) (sdk.Loop, bool, error)
	Turns(ctx context.Context, run int64) ([]sdk.Turn, error)
	OpenTurns(ctx context.Context) ([]int64, error) // the runs that have any
	Queued(ctx context.Context) ([]int64, error)
	Unfinished(ctx context.Context) ([]sdk.Loop, error)
	RunStore
	RestStore
}

// Tools are the tools there are now.
type Tools interface {
	Tools() []sdk.Tool
	// Gather starts what has tools for the agent and waits for its first use, and
	// returns when all of that is there or has failed.
	Gather(ctx context.Context, agent sdk.Agent)
	// Accepted reports whether a person accepted a server of MCP, so that what it says of its tools may count.
	Accepted(server string) bool
	// Missing says why a plugin does not run that would have a tool, or may have had
	// it; nil when all run.
	Missing(name string) error
	// Invoke runs one call. An error is a call that could not be made.
	Invoke(ctx context.Context, call sdk.Invocation, out sdk.Stream) (sdk.ToolResult, error)
	// Settle asks what a call came to that a dead daemon had begun. An error,
	// of outcome interrupted, is that nobody knows.
	Settle(ctx context.Context, call sdk.Invocation) (sdk.ToolResult, error)
	// Stage asks what a call would change in files, and changes nothing.
	Stage(ctx context.Context, call sdk.Invocation) (sdk.Staged, error)
	// Prepare makes ready what calls of a tool in a run need.
	Prepare(ctx context.Context, at sdk.Place) (sdk.Prepared, error)
}

// ErrConfig is in the chain of an error of Models that a person mends in the
// configuration, such as a missing key. Nothing was sent then, and asking
// again helps nothing.
var ErrConfig = errors.New("the configuration is at fault")

// Models finds models and asks them. Complete retries by itself, and only
// before anything was streamed.
type Models interface {
	Resolve(ctx context.Context, name string) (sdk.ModelChoice, error)           // "" is the daemon's choice
	ResolveConfigured(ctx context.Context, name string) (sdk.ModelChoice, error) // of the configuration; another may be taken
	// IsLast reports whether a name is the recording that is taken when there is no model.
	IsLast(name string) bool
	// ListedPrice is what the provider of a choice without a price lists for it; nil is unknown.
	ListedPrice(ctx context.Context, c sdk.ModelChoice) *sdk.Price
	// ContextUse is what the configuration says of the context of a model, by the alias of its choice.
	ContextUse(alias string) sdk.ContextUse
	// Inputs is what the model of a choice takes, nil where nobody knows, and the aliases of its
	// provider's models that take images. Its provider may be asked for it.
	Inputs(ctx context.Context, c sdk.ModelChoice) (inputs, seeing []string)
	Complete(ctx context.Context, alias string, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error
}

// Assembler is a view: it makes messages of a run's entries.
type Assembler interface {
	Assemble(ctx context.Context, in sdk.Assembly) (sdk.Prompt, error)
	// Fit makes a prompt fit its Ceiling, or answers with outcome overflow. A view whose
	// messages the filters of assembly.user write has them written anew by render.
	Fit(ctx context.Context, p sdk.Prompt, render func(context.Context, sdk.Prompt) (sdk.Prompt, error)) (sdk.Prompt, sdk.Fitting, error)
	// Estimate counts a prompt in tokens.
	Estimate(p sdk.Prompt) int
	// Observe calibrates the estimate by what a server reported for a prompt, and returns the ratio that the answer is to keep; 0 is none.
	Observe(p sdk.Prompt, usage sdk.Usage) float64
	// Forget drops what is kept for a run that rests.
	Forget(run int64)
}

// Settler is a view in which a turn may bring more into sight than the next prompt has room for.
type Settler interface {
	// Settle is what the turn of the prompt that was sent takes out of sight again, so that the prompt of an assembly fits.
	Settle(ctx context.Context, in sdk.Assembly, sent sdk.Prompt) ([]sdk.Write, error)
}

// Dialect is how a model writes calls.
type Dialect interface {
	// Native reports whether a provider is sent the tools and delivers the calls. Else they are of the text, and no tools are sent.
	Native() bool
	// Whole is an answer as it is recorded and read.
	Whole(c sdk.Completion) sdk.Completion
	// Read reads an answer that is whole, with the tools that its model was offered. It never fails.
	Read(c sdk.Completion, tools []sdk.Tool) sdk.Reading
	// Watch begins to watch an answer that is coming, for people.
	Watch(tools []sdk.Tool) stream.Watch
}

// Policy decides about an action. It is pure.
type Policy interface {
	Decide(a sdk.PolicyRequest) sdk.Decision
}

// encode makes the JSON of attributes, whose types always can be encoded
// except for what a plugin put into metadata; that is left out then.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		return json.RawMessage("{}")
	}
	return b
}
