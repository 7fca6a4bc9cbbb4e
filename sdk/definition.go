package sdk

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// AgentSource is one of the places that agents come from.
type AgentSource string

// The sources. Of two agents with one name that of the earlier source is taken.
const (
	AgentOfConfig    AgentSource = "configuration" // a block of the user's file
	AgentOfUser      AgentSource = "user"          // a Markdown file of the user's
	AgentOfWorkspace AgentSource = "workspace"     // a Markdown file of the project
	AgentOfPlugin    AgentSource = "plugin"        // what a plugin declares and its block takes
	AgentBundled     AgentSource = "bundled"       // a block that only the default configuration has
)

// AgentSources are all that there are, in their order.
func AgentSources() []AgentSource {
	return []AgentSource{AgentOfConfig, AgentOfUser, AgentOfWorkspace, AgentOfPlugin, AgentBundled}
}

// Definition is an agent as one of the sources has it. What stands outside of the configuration only narrows: its
// Agent is already held to what the agent default may do.
type Definition struct {
	Agent  Agent       `json:"agent"`
	Source AgentSource `json:"source"`
	Place  string      `json:"place"` // file:line, a file, or the label of a plugin
	// Untrusted says that it is a file of the project that nobody has said yes to as it is. No prompt gets it,
	// and it hides no other.
	Untrusted bool `json:"untrusted,omitempty"`
	// From are the places of what holds for it, by attribute; what stands at Place alone is not among them.
	From map[string]string `json:"from,omitempty"`
	// Notes are what it says that does not hold, and why.
	Notes []string `json:"notes,omitempty"`
	// Shadowed are those of the same name that it goes before, in their order.
	Shadowed []ShadowedAgent `json:"shadowed,omitempty"`
}

// ShadowedAgent is an agent whose name another one has that goes before it.
type ShadowedAgent struct {
	Source    AgentSource `json:"source"`
	Place     string      `json:"place"`
	Untrusted bool        `json:"untrusted,omitempty"`
	Notes     []string    `json:"notes,omitempty"`
}

// Digest is the SHA-256 of the agent: two with the same one do the same.
func (a Agent) Digest() string {
	text, err := json.Marshal(a)
	if err != nil {
		return "" // a schema that is no JSON, which no source lets through
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// Bound holds an agent that stands outside of the configuration to the tools of another.
type Bound struct {
	Tools []string `json:"tools,omitempty"`
	MCP   []string `json:"mcp,omitzero"`
}

func (b Bound) agent() Agent { return Agent{Tools: b.Tools, MCP: b.MCP} }
