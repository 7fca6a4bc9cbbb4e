package rpc

import "github.com/bothyd/bothy/sdk"

// AgentsParams is the parameters of agents/list.
type AgentsParams struct {
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project, whose own file may choose another default; without one what holds everywhere"`
}

// Agent is one agent that a prompt may name.
type Agent struct {
	Name        string   `json:"name"`
	Model       string   `json:"model,omitempty"` // of a new run that names none; empty is the daemon's choice
	Mode        sdk.Mode `json:"permission_mode"`
	Description string   `json:"description"` // what it may do, in a sentence
	Tools       []string `json:"tools"`       // that it may call, of those that are there now
	Default     bool     `json:"default"`     // a prompt in a new run that names no agent gets this one
}

// Agents answers agents/list, by name.
type Agents struct {
	Agents []Agent `json:"agents"`
}
