package sdk

import "encoding/json"

// Work is a result that an agent hands over by ToolFinish, and what was done for it: by the run since its prompt, and
// by its children. Whoever judges it reads this and nothing else.
type Work struct {
	Agent  string          `json:"agent"`
	Run    string          `json:"run"` // its alias
	Prompt string          `json:"prompt"`
	Result json.RawMessage `json:"result"` // the arguments of the call: an object that satisfies the schema
	Done   []WorkDone      `json:"done"`   // in the order in which it ended
}

// WorkDone is one call that was made.
type WorkDone struct {
	Run        string          `json:"run"`  // the alias of the run that made it
	Path       string          `json:"path"` // of its action
	Tool       string          `json:"tool"` // as its plugin declares it
	Plugin     string          `json:"plugin,omitempty"`
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	Success    bool            `json:"success"`
	Outcome    Outcome         `json:"outcome,omitempty"`
	ReadOnly   bool            `json:"read_only,omitempty"` // the call is proven to change nothing
	OpenWorld  bool            `json:"open_world,omitempty"`
	Structured json.RawMessage `json:"structured,omitempty"`
	// Changed are the paths of the project that it changed, as far as its tool tells; with Untold there may be more.
	Changed []string `json:"changed,omitempty"`
	Untold  bool     `json:"untold,omitempty"`
}

// Judgement is what somebody says of a Work. The zero value refuses it.
type Judgement struct {
	Accepted bool `json:"accepted"`
	// Missing says what has to be done before it can be accepted, for the model, one thing each.
	Missing []string `json:"missing,omitempty"`
}
