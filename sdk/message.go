package sdk

import "encoding/json"

// Role is who speaks in a message.
type Role string

// The roles of a message.
const (
	RoleSystem    Role = "system"
	RoleUser      Role = "user"
	RoleAssistant Role = "assistant"
	RoleTool      Role = "tool"
)

// Message is one message of a request to a model.
type Message struct {
	Role      Role     `json:"role"`
	Text      string   `json:"text,omitempty"`
	Reasoning string   `json:"reasoning,omitempty"` // assistant only; some servers want it back
	Calls     []Call   `json:"calls,omitempty"`     // assistant only
	CallID    string   `json:"call_id,omitempty"`   // tool only: the call it answers
	Tool      string   `json:"tool,omitempty"`      // tool only: the tool's name
	Failed    bool     `json:"failed,omitempty"`    // tool only
	Skill     string   `json:"skill,omitempty"`     // whose text this is: it goes last when a prompt has to fit; no server is sent this
	Media     []Medium `json:"media,omitempty"`     // user only: images, with Data, which the model sees before the text

	// Extra is what the provider wants back unchanged with this assistant
	// message (reasoning details, signatures). It belongs to that provider.
	Extra json.RawMessage `json:"extra,omitempty"`

	// Results is how many results of calls the text is, where the calls stood in the answer before it (DialectTags); 0 is none.
	// User only; no server is sent this.
	Results int `json:"results,omitempty"`
}

// Call is one tool call as the model wrote it. Arguments is the model's text:
// it is meant to be a JSON object and may be anything.
type Call struct {
	ID        string `json:"id"`
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
}

// Request asks a model for one completion.
type Request struct {
	Run         string    `json:"run,omitempty"` // the run's key, for logs and cassettes; never sent to a server
	Model       string    `json:"model"`         // the provider's own name for it
	Messages    []Message `json:"messages"`
	Tools       []ToolDef `json:"tools,omitempty"`
	Temperature *float64  `json:"temperature,omitempty"` // nil is the provider's own
	MaxTokens   int       `json:"max_tokens,omitempty"`  // 0 is the provider's own
	Reasoning   Reasoning `json:"reasoning,omitempty"`   // empty is the provider's own
	Context     int       `json:"context,omitempty"`     // the window the caller counts on, in tokens; 0 is unknown
	// Turn is the number of the run's turn that asks, from 1 on; 0 where none does. A view may send no answer of the
	// turns before, so that nothing else tells how far the conversation is.
	Turn int `json:"turn,omitempty"`
}

// Reasoning is how much a model thinks before it answers. Not every model can be
// told: a provider asks for what comes nearest, and leaves it out where the model
// refuses to be told at all.
type Reasoning string

// The levels, from the least.
const (
	ReasoningOff    Reasoning = "off"
	ReasoningLow    Reasoning = "low"
	ReasoningMedium Reasoning = "medium"
	ReasoningHigh   Reasoning = "high"
)

// ToolDef is what a model is told about a tool.
type ToolDef struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Parameters  json.RawMessage `json:"parameters"` // a JSON Schema of type object
}

// Delta is one piece of a completion's stream. Exactly one field is set.
type Delta struct {
	Text      string     `json:"text,omitempty"`
	Reasoning string     `json:"reasoning,omitempty"`
	Call      *CallDelta `json:"call,omitempty"`
	Usage     *Usage     `json:"usage,omitempty"` // the last one counts
	Finish    *Finish    `json:"finish,omitempty"`
}

// CallDelta is a piece of a call. A provider gives each call of a completion
// an Index of its own, from 0 up, and an ID and Tool that are not empty in the
// call's first piece; Arguments are appended.
type CallDelta struct {
	Index     int    `json:"index"`
	ID        string `json:"id,omitempty"`
	Tool      string `json:"tool,omitempty"`
	Arguments string `json:"arguments,omitempty"`
}

// Usage is what a completion used, as far as the server told.
type Usage struct {
	Prompt     int `json:"prompt"`
	Cached     int `json:"cached,omitempty"`
	Completion int `json:"completion"`
	Reasoning  int `json:"reasoning,omitempty"`
	Total      int `json:"total"`
	// Cost is in the currency of the prices: what the server reported, else what the price of
	// the model makes of the tokens (ADR 0066). 0 is free, nil is unknown. A provider leaves it
	// nil unless its server reports it.
	Cost *float64 `json:"cost,omitempty"`
	// Estimated says that the server told nothing that can be true: the tokens were counted
	// here, and Cost is the most that the request could cost. The engine alone sets it.
	Estimated bool `json:"estimated,omitempty"`
}

// Add adds what another completion used; nil is nothing. A sum's Cost is what is known of it.
func (u *Usage) Add(more *Usage) {
	if more == nil {
		return
	}
	u.Prompt += more.Prompt
	u.Cached += more.Cached
	u.Completion += more.Completion
	u.Reasoning += more.Reasoning
	u.Total += more.Total
	u.Estimated = u.Estimated || more.Estimated
	if more.Cost != nil {
		sum := *more.Cost
		if u.Cost != nil {
			sum += *u.Cost
		}
		u.Cost = &sum // anew: the old one may be that of another sum
	}
}

// PluginCompletion is the Data of a row of the journal (KindNoteCompletion): what a plugin
// asked of a model while it served a call, and what that used. No turn has it in its Usage.
type PluginCompletion struct {
	Plugin string `json:"plugin"`
	For    string `json:"for"` // the id of the call that the plugin served
	Model  string `json:"model"`
	Usage  *Usage `json:"usage"` // nil when the provider said nothing
	Error  string `json:"error,omitempty"`
	// Answered says that something came, however it ended: it may cost, whatever
	// is known of its usage.
	Answered bool `json:"answered,omitempty"`
}

// PluginRun is the Data of a row of the journal (KindNoteRun): what a plugin did with a run while it
// served a call.
type PluginRun struct {
	Plugin string `json:"plugin"`
	For    string `json:"for"`    // the id of the call that the plugin served
	Method string `json:"method"` // of the socket, that does the same
	Run    string `json:"run"`    // its alias then
}

// Finish closes a stream. A stream without one was cut and is no completion.
type Finish struct {
	Reason string          `json:"reason"` // "stop", "calls", "length" or "filter"
	Extra  json.RawMessage `json:"extra,omitempty"`
}

// Completion is a whole answer, put together from its deltas.
type Completion struct {
	Text      string          `json:"text"`
	Reasoning string          `json:"reasoning,omitempty"`
	Calls     []Call          `json:"calls,omitempty"`
	Usage     *Usage          `json:"usage,omitempty"`
	Finish    string          `json:"finish"`
	Extra     json.RawMessage `json:"extra,omitempty"`

	// Found are the calls that were read in the text before, of an answer that was recorded (Reply.Found): those that it has. It is nil of
	// an answer that comes from a model.
	Found []FoundCall `json:"-"`
	// Lost is Reading.Lost of an answer that was recorded (Reply.Lost).
	Lost bool `json:"-"`
}
