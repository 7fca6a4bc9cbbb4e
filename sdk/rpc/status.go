package rpc

import "time"

// Status answers status: how the daemon is.
type Status struct {
	Version     string    `json:"version"`
	Protocol    string    `json:"protocol"`
	PID         int       `json:"pid"`
	Started     time.Time `json:"started"`
	Socket      string    `json:"socket"`
	Web         string    `json:"web,omitempty"` // the address at which WebSockets are served; empty: they are not
	Database    string    `json:"database"`
	Log         string    `json:"log"`
	Seq         int64     `json:"seq"`
	RSS         int64     `json:"rss"`     // resident memory in bytes
	Running     int       `json:"running"` // loops at work
	Queued      int       `json:"queued"`  // loops that wait
	Connections int       `json:"connections"`
	Plugins     []Plugin  `json:"plugins"`
	Problems    []string  `json:"problems"`           // diagnostics that still hold
	Waiting     []string  `json:"waiting,omitempty"`  // what prompts wait for before a model can be asked
	Config      string    `json:"config"`             // the user's file, there or not
	Stopping    bool      `json:"stopping,omitempty"` // what is at work ends, and nothing new begins
	Polling     string    `json:"polling,omitempty"`  // why its changes are found late; empty: at once

	Skills SkillState `json:"skills"` // those that all projects share
	// HomeTools name the toolchains and caches of the user's home that commands in the
	// sandbox have: "cargo", "go".
	HomeTools []string `json:"home_tools,omitempty"`
}

// StopParams is the parameters of stop.
type StopParams struct {
	Now bool `json:"now,omitempty" access:"free" jsonschema:"end without waiting for what is at work; it is taken up at the next start"`
}

// Setting is one value of the configuration as it is in force.
type Setting struct {
	Name   string `json:"name"`   // sandbox.timeout, agent.chat.max_turns, ...
	Value  string `json:"value"`  // secrets are named, never shown
	Source string `json:"source"` // "default", a file with its line, or an environment variable
}
