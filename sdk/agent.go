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
