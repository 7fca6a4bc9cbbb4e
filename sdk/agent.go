package sdk

// Agent is a named profile: which model, which tools, how it is told and what
// stops it. It comes from an agent block, with the defaults filled in.
type Agent struct {
	Name        string   `json:"name"`
	Model       string   `json:"model,omitempty"`   // alias or provider/name; empty is the daemon's choice
	Persona     string   `json:"persona,omitempty"` // text that joins the system prompt
	Tools       []string `json:"tools,omitempty"`   // globs over tool names; empty is all
	Dialect     string   `json:"dialect"`           // "tools"
	View        string   `json:"view"`              // "transcript"
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"max_tokens,omitempty"`
	Guards      Guards   `json:"guards"`
	Busy        string   `json:"busy,omitempty"`  // "queue" (default) or "refuse"
	Leave       Leave    `json:"leave,omitempty"` // the attribute mode of its block; empty is restricted
}

// Guards are the rules that can stop a loop (design section 6). Zero turns a
// guard off.
type Guards struct {
	MaxTurns          int      `json:"max_turns"`
	RepeatedCalls     int      `json:"repeated_calls"`             // the same call so many times in a row
	WindowCalls       int      `json:"window_calls,omitempty"`     // the same call so many times ...
	WindowSize        int      `json:"window_size,omitempty"`      // ... among so many calls; both or none
	ConsecutiveErrors int      `json:"consecutive_errors"`         // failed actions in a row
	MaxStrikes        int      `json:"max_strikes,omitempty"`      // turns in a row that brought a strike
	MinCycles         int      `json:"min_cycles,omitempty"`       // how often a pattern of turns repeats before it is a strike
	MaxCyclePeriod    int      `json:"max_cycle_period,omitempty"` // the longest such pattern, in turns
	Deadline          Duration `json:"deadline,omitempty"`         // time of one loop, from its first turn
	MaxCost           float64  `json:"max_cost,omitempty"`         // of one loop, in the currency of the models' prices
}

// DefaultGuards are those of an agent that says nothing.
func DefaultGuards() Guards {
	return Guards{MaxTurns: 99, RepeatedCalls: 2, ConsecutiveErrors: 3}
}
