package rpc

import (
	"bytes"
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// RunState is what the notification run/state tells of a run, and what getRun begins with: one
// shape, whatever it is sent for.
type RunState struct {
	Run       string     `json:"run"`     // the alias
	Turn      int        `json:"turn"`    // the last turn opened
	Status    int        `json:"status"`  // of the run; at the end of a loop, what the run shows of that
	Summary   string     `json:"summary"` // the last answer
	History   []Event    `json:"history"` // prompts, answers and actions, in the order of the run
	Unknowns  []Unknown  `json:"unknowns"`
	Telemetry *Telemetry `json:"telemetry"` // nil within a turn, and while no turn has ended
}

// Progress is the notification run/progress: what a turn does now, "thinking", "processing" or
// "retrying".
type Progress struct {
	Run    string `json:"run"`
	Turn   int    `json:"turn"`
	Status string `json:"status"`
}

// Proposed is the notification run/proposal: entries that wait for a person.
type Proposed struct {
	Run      string          `json:"run"`
	Chain    []string        `json:"chain,omitempty"` // the aliases of the runs that delegated the work of Run, the first of all first
	Proposed []ProposedEntry `json:"proposed"`
}

// ProposedEntry is one entry that waits for a person.
type ProposedEntry struct {
	Path       string     `json:"path"`
	Body       string     `json:"body"` // cut to 16 KiB
	Attributes Attributes `json:"attributes"`
	Turn       int        `json:"turn"`
}

// StreamCancelled is the notification stream/cancelled: a call that still ran was cancelled, and
// nothing more of its output is taken. The connection of the client that runs it is told without a watch.
type StreamCancelled struct {
	Run    string `json:"run"`
	Path   string `json:"path"`
	Reason string `json:"reason"`
}

// Render is the notification ui/render: what a tool says of its work.
type Render struct {
	Run    string `json:"run"`
	Text   string `json:"text"`
	Append bool   `json:"append"` // behind what was said before
}

// Notify is the notification ui/notify: what the engine says of its own work.
type Notify struct {
	Run   string `json:"run"`
	Text  string `json:"text"`
	Level string `json:"level"` // "info" or "warn"
}

// Event is one prompt, answer or action of a run.
type Event struct {
	Tool       string      `json:"tool"` // the action's tool, or the entry's scheme
	Path       string      `json:"path"`
	Status     int         `json:"status"`
	State      sdk.State   `json:"state"`
	Outcome    sdk.Outcome `json:"outcome,omitempty"`
	Turn       int         `json:"turn"`
	Body       string      `json:"body"`          // cut to 16 KiB
	Cut        int         `json:"cut,omitempty"` // bytes left out of Body; getEntries has them
	Attributes Attributes  `json:"attributes"`
}

// Unknown is an entry unknown:// that a run sees: what it does not know yet.
type Unknown struct {
	Path string `json:"path"`
	Body string `json:"body"` // cut to 16 KiB
}

// Attributes are those of an entry. On the wire they are a text, which is a JSON object; an object
// itself is read too.
type Attributes map[string]any

// Object is the JSON object.
func (a Attributes) Object() (json.RawMessage, error) {
	if a == nil {
		return json.RawMessage("{}"), nil
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // of a text that has it, the text is escaped
	err := enc.Encode(map[string]any(a))
	return bytes.TrimSpace(text.Bytes()), err
}

// MarshalJSON writes the text.
func (a Attributes) MarshalJSON() ([]byte, error) {
	object, err := a.Object()
	if err != nil {
		return nil, err
	}
	return json.Marshal(string(object))
}

// UnmarshalJSON reads either form.
func (a *Attributes) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) == nil {
		raw = []byte(text)
	}
	*a = nil
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, (*map[string]any)(a))
}

// Telemetry is what a run cost so far, summed over its turns and what plugins asked of
// models in them. All are numbers, also where a provider told none: what was counted here then.
type Telemetry struct {
	Model            string `json:"model"`          // that the run works with
	ContextSize      int    `json:"context_size"`   // of the model, in tokens; 0 is unknown
	ContextTokens    int    `json:"context_tokens"` // of the last turn that was answered
	PromptTokens     int    `json:"prompt_tokens"`
	CachedTokens     int    `json:"cached_tokens"`
	CompletionTokens int    `json:"completion_tokens"`
	ReasoningTokens  int    `json:"reasoning_tokens"`
	TotalTokens      int    `json:"total_tokens"`
	// Cost is in the currency of the prices; 0 is free, nil is unknown. It is the sum of what is
	// known.
	Cost *float64 `json:"cost,omitempty"`
	// Estimated says that tokens of some turns were counted here: their provider told none.
	Estimated bool `json:"estimated,omitempty"`
}
