package sdk

// RunConfig is what a run has of its own, in the place of what its agent and its model
// say. A fork begins with its parent's. What is changed counts from the next prompt on.
type RunConfig struct {
	Temperature  *float64 `json:"temperature,omitempty"`   // from 0 to 2; nil is the agent's, else the model's
	Persona      string   `json:"persona,omitempty"`       // in the place of the agent's; from the first turn on it stays as it is
	ContextLimit int      `json:"context_limit,omitempty"` // in tokens, where the model takes more; 0 is what it takes

	NoRepo        bool `json:"no_repo,omitempty"`        // the files of the project are not scanned
	NoInteraction bool `json:"no_interaction,omitempty"` // nobody is asked a question
	NoWeb         bool `json:"no_web,omitempty"`         // no tool that searches or reads the web
	NoProposals   bool `json:"no_proposals,omitempty"`   // no tool that runs commands, and what a person would be asked about is denied
	NoMemory      bool `json:"no_memory,omitempty"`      // nothing is told of what is remembered, nor learned; once the run has begun it stays so
}

// MaxPersona is the longest persona of a run, in bytes.
const MaxPersona = 64 << 10

// Excludes are the names of the tools that the flags leave out, for the spec's tools
// and for those that do the same here.
func (c RunConfig) Excludes() (names []string) {
	if c.NoInteraction {
		names = append(names, ToolAskUser)
	}
	if c.NoWeb {
		names = append(names, ToolSearch, SearchTool, "web_fetch", "open_network")
	}
	if c.NoProposals {
		names = append(names, ToolAskUser, "sh", "env", "bash", ToolTests)
	}
	if c.NoMemory {
		names = append(names, "remember", "forget", "recall")
	}
	return names
}

// Limit is a number of tokens that a model takes, held to the run's limit; 0 is unknown.
func (c RunConfig) Limit(context int) int {
	if c.ContextLimit > 0 && (context == 0 || context > c.ContextLimit) {
		return c.ContextLimit
	}
	return context
}

// In is the agent as a run has it.
func (a Agent) In(r Run) Agent {
	if r.Persona != "" {
		a.Persona = r.Persona
	}
	if r.Temperature != nil {
		a.Temperature = r.Temperature
	}
	if r.Offline {
		a.Network = new(false)
	}
	if r.Channel != "" && a.Messages == 0 {
		a.Messages = ChannelMessages
	}
	a.Excluded = r.Excludes()
	a.Tools = a.Has()
	if a.Taught() && a.Bound != nil {
		bound := *a.Bound
		bound.Tools = boundTaught(bound.Tools)
		a.Bound = &bound
	}
	return a
}
