package rpc

import "github.com/bothyd/bothy/sdk"

// AgentsParams is the parameters of agents/list.
type AgentsParams struct {
	Project   string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project, whose own file may choose another default; without one what holds everywhere"`
	Untrusted bool   `json:"untrusted,omitempty" access:"free" jsonschema:"also the agents of files of the project that nobody has said yes to; no prompt gets one of those"`
}

// AgentParams is the parameters of agents/show.
type AgentParams struct {
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; without one what holds everywhere"`
	Name    string `json:"name" access:"free"`
}

// Agent is one agent that a prompt may name.
type Agent struct {
	Name         string          `json:"name"`
	Model        string          `json:"model,omitempty"` // of a new run that names none; empty is the daemon's choice
	Mode         sdk.Mode        `json:"permission_mode"`
	Description  string          `json:"description"` // what it is for, in a sentence; where it does not say, what it may do
	May          string          `json:"may"`         // what it may do, in a sentence
	Capabilities []string        `json:"capabilities,omitempty"`
	Tools        []string        `json:"tools"`             // that it may call, of those that are there now
	Agents       []string        `json:"agents,omitempty"`  // that it may delegate to
	Finishes     bool            `json:"finishes,omitzero"` // it hands back a result that fits its schema
	Default      bool            `json:"default"`           // a prompt in a new run that names no agent gets this one
	Source       sdk.AgentSource `json:"source"`
	Place        string          `json:"place,omitempty"`     // file:line, a file, or the label of a plugin
	Untrusted    bool            `json:"untrusted,omitempty"` // nobody has said yes to its file: no prompt gets it
	Digest       string          `json:"digest,omitempty"`    // of one that is untrusted: another one is another agent
	Shadowed     int             `json:"shadowed,omitempty"`  // how many of its name it goes before
	Notes        int             `json:"notes,omitempty"`     // how much of what it says does not hold
}

// Agents answers agents/list, by name.
type Agents struct {
	Agents []Agent `json:"agents"`
}

// AgentDetail answers agents/show.
type AgentDetail struct {
	Agent
	Definition sdk.Definition `json:"definition"` // whole, with where each attribute comes from and whom it goes before
}
