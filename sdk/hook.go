package sdk

import (
	"context"
	"encoding/json"
)

// DefaultPriority is a subscription's place when it names none. Lower runs
// first; equal ones run in the order of subscription.
const DefaultPriority = 10

// Subscription binds a plugin to one name of the catalogue.
type Subscription struct {
	Name     string `json:"name"` // an event or filter of the catalogue; an unknown name is an error
	Priority int    `json:"priority"`
	// Failure says what a failed subscriber means: FailOpen (the default, and all
	// that an event may say) or FailClosed. Guards are closed whatever it says.
	Failure string `json:"failure,omitempty"`
	// Scheme is that of the only entries that the subscriber of entry.changed hears of; empty is all. Who subscribes
	// without one is told of each step of each call.
	Scheme string `json:"scheme,omitempty"`
}

// What it means when a subscriber fails, does not answer in time or is not there.
const (
	FailOpen   = "open"   // the value passes as it was
	FailClosed = "closed" // what was asked is denied
)

// HookKind tells events from filters.
type HookKind string

// Events tell; filters change a value on its way.
const (
	HookEvent  HookKind = "event"
	HookFilter HookKind = "filter"
)

// Hook serves subscriptions. Built-in parts of the daemon implement the same
// interface: nothing built in has a private door.
type Hook interface {
	// Subscriptions names what this hook subscribes to. The host asks once
	// after Configure; a name that is not in the catalogue is an error.
	Subscriptions() []Subscription

	// Event tells that something happened. payload is the JSON of the type
	// that the catalogue gives for the name.
	Event(ctx context.Context, name string, payload json.RawMessage) error

	// Filter passes a value on, changed or not. The returned JSON must be of
	// the same type.
	Filter(ctx context.Context, name string, value json.RawMessage) (json.RawMessage, error)
}

// LoopEvent is the payload of loop.*, ask.*, act.*, run.step.completed.
type LoopEvent struct {
	Project int64    `json:"project"`
	Run     Run      `json:"run"`
	Loop    HookLoop `json:"loop"`
	Turns   int      `json:"turns,omitempty"`
	Status  int      `json:"status,omitempty"`
	Reason  string   `json:"reason,omitempty"`
}

// RunEvent is the payload of run.created, run.reset, run.expired, run.deleted, run.idle.
type RunEvent struct {
	Run     Run    `json:"run"`
	Project string `json:"project"` // its root
	RunDir  string `json:"run_dir"`
}

// TurnEvent is the payload of turn.started, turn.dispatched, run.progress,
// run.state, context.materialized and llm.request.*.
type TurnEvent struct {
	Run      Run             `json:"run"`
	Loop     HookLoop        `json:"loop"`
	Turn     Turn            `json:"turn"`
	Messages int             `json:"messages,omitempty"`
	Detail   json.RawMessage `json:"detail,omitempty"`
}

// EntryEvent is the payload of entry.*, tool.*, error.log, proposal.prepare,
// proposal.pending, proposal.accepted, proposal.rejected and stream.cancelled.
type EntryEvent struct {
	Run   int64 `json:"run"`
	Entry Entry `json:"entry"`
	// Removed says, of entry.changed, that the run sees the entry no more: it is as it was.
	Removed bool `json:"removed,omitempty"`
}

// Recording is the value of the filter entry.recording: an action about to be
// recorded. A filter that sets State to failed rejects it: the entry is kept,
// with Outcome and Body, and never dispatched. State cancelled rejects it and
// every call behind it in the turn. The first rejection holds. A filter may
// change the member "arguments" of Attributes; policy then judges, and the tool
// gets, what it left there. Changes of any other field are ignored.
type Recording struct {
	Run        int64           `json:"run"`
	Turn       int             `json:"turn"`
	Loop       int64           `json:"loop"`
	ReadOnly   AskOrAct        `json:"mode"`
	Tool       string          `json:"tool"`
	Path       string          `json:"path"`
	Body       string          `json:"body"`
	Attributes json.RawMessage `json:"attributes"`
	State      State           `json:"state"`
	Outcome    Outcome         `json:"outcome,omitempty"`

	// Parent is that of the action (ActionCall.Parent), as the daemon knows it: no
	// filter can change it, as it can the attributes.
	Parent string `json:"-"`
	// Said are the arguments as the model wrote them. Those in the attributes are as the
	// tool gets them, with the paths of the project relative to it. No subscriber outside
	// of the daemon sees or sets it.
	Said json.RawMessage `json:"-"`
	// Repeats is the path of an earlier action: its result answers the call, which is not
	// made. No subscriber outside of the daemon sees or sets it.
	Repeats string `json:"-"`
	// By is who rejected the call, as the daemon knows it.
	By string `json:"-"`
}

// Prompt is the value of the filters assembly.system, assembly.user and
// llm.messages: what is about to be sent.
type Prompt struct {
	Run      Run       `json:"run"`
	Loop     HookLoop  `json:"loop"`
	Turn     int       `json:"turn"`
	Model    string    `json:"model"`
	System   string    `json:"system"`
	Messages []Message `json:"messages,omitempty"`
	Tools    []Tool    `json:"tools,omitempty"`
	Tokens   int       `json:"tokens,omitempty"`  // the estimate of all of it
	Ceiling  int       `json:"ceiling,omitempty"` // what fits; 0 is unknown

	Use ContextUse `json:"use,omitzero"` // how it is made to fit

	// Rows are the entries of a packet, in its order; a transcript has none. Filters of assembly.system and assembly.user
	// are given them, and change nothing of them.
	Rows []*Row `json:"rows,omitempty"`
	// Instructions is what the part instructions of a packet says in this turn beside its own text: skills, and the
	// instructions of folders that calls worked below.
	Instructions string `json:"instructions,omitempty"`
}

// Ruling is the value of the filter turn.verdict, and a turn's end.
type Ruling struct {
	Continue bool   `json:"continue"`
	Status   int    `json:"status"`
	Reason   string `json:"reason"`
	Stop     string `json:"stop,omitempty"` // a stop reason (stop.go), or the name of the guard that ended the loop
}

// TurnResult is what turn.verdict judges: everything the turn did. It is also
// the payload of turn.response, before there are actions, and turn.completed. A
// filter of turn.verdict may end a loop that would go on, and nothing else: a
// loop that ends cannot be kept going, and what the turn did stays as it is.
type TurnResult struct {
	Run        Run        `json:"run"`
	Loop       HookLoop   `json:"loop"`
	Turn       int        `json:"turn"`      // within the run
	LoopTurn   int        `json:"loop_turn"` // within the loop, from 1
	Completion Completion `json:"completion"`
	Actions    []Entry    `json:"actions"`            // as they ended, in the model's order; each behind what its plugin called on its way
	Errors     []Entry    `json:"errors,omitempty"`   // failures without an action: log://turn_N/error/...
	Duration   Duration   `json:"duration,omitempty"` // from the turn's opening until now
	Ruling     Ruling     `json:"ruling"`
}

// Resolution is the value of the filters proposal.accepting and
// proposal.content: an answer to a proposal on its way into the store. In full
// mode, and where whoever calls may approve, proposal.accepting is also asked about
// a call that is about to be recorded and would have been proposed.
type Resolution struct {
	Run     int64   `json:"run"`
	Entry   Entry   `json:"entry"`
	Allow   bool    `json:"allow"`
	Outcome Outcome `json:"outcome,omitempty"` // when Allow is false
	Body    string  `json:"body"`
	By      string  `json:"-"` // who vetoed, as the daemon knows it
}

// ConfigChange is the value of the filter run.config: a run, and what it will have of its own. A filter may change
// the temperature, lower the context limit and set flags (no_*); changes of anything else are ignored. One
// that fails and is closed refuses all of it.
type ConfigChange struct {
	Run    Run       `json:"run"`    // as it is; without an id when it is about to be made
	Model  string    `json:"model"`  // that it will have
	Config RunConfig `json:"config"` // without its persona
}

// Notice is the payload of ui.render and ui.notify.
type Notice struct {
	Project int64  `json:"project"`
	Run     int64  `json:"run"`
	Text    string `json:"text"`
	Append  bool   `json:"append,omitempty"` // ui.render: goes on where the last one ended
	Level   string `json:"level,omitempty"`  // ui.notify: "info", "warn" or "error"
}

// SocketRequest is one request of the daemon's socket, as the names rpc.* and
// socket.message.raw show it. No filter changes it: one that fails and is closed refuses the request, or keeps
// its result back. Filters are not asked about what needs the role approve or admin, nor about hello, ping, discover and
// status, so that none stands between a person and the daemon. What channels ask for is not told. Secrets are
// taken out, and of requests that hold keys or tokens neither parameters nor results are told.
type SocketRequest struct {
	Project int64           `json:"project,omitempty"` // that of the connection, by init; 0 is none
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Raw     string          `json:"raw,omitempty"` // socket.message.raw: the message as it came
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   string          `json:"error,omitempty"`
	Left    int             `json:"left,omitempty"` // bytes left out: of raw, params and result there are 64 KiB at most
}
