package rpc

import "github.com/bothyd/bothy/sdk"

// RunOptions are what a client gives a run of its own, in startRun, ask, act and
// run/config. What is absent stays as it is: of a new run, as its agent and model say.
type RunOptions struct {
	Temperature  *float64 `json:"temperature,omitempty" access:"free" jsonschema:"from 0 to 2; -1 is the agent's again"`
	Persona      *string  `json:"persona,omitempty" access:"free" jsonschema:"text in the place of the agent's persona, at most 64 KiB; empty is the agent's. It is fixed once the run has begun"`
	ContextLimit *int     `json:"contextLimit,omitempty" access:"free" jsonschema:"tokens that the model is sent at the most; 0 is what it takes"`

	NoRepo        *bool `json:"noRepo,omitempty" access:"free" jsonschema:"the files of the project are not scanned"`
	NoInteraction *bool `json:"noInteraction,omitempty" access:"free" jsonschema:"the run asks nobody a question"`
	NoWeb         *bool `json:"noWeb,omitempty" access:"free" jsonschema:"the run has no tools that search or read the web"`
	NoProposals   *bool `json:"noProposals,omitempty" access:"free" jsonschema:"the run has no tools that run commands or ask a person; what would be proposed is denied"`
	NoMemory      *bool `json:"noMemory,omitempty" access:"free" jsonschema:"the run is told nothing of what is remembered, and nothing is learned from it. It is fixed once the run has begun"`
}

// Apply changes what a run has by what was given.
func (o RunOptions) Apply(c *sdk.RunConfig) {
	switch {
	case o.Temperature != nil && *o.Temperature == -1:
		c.Temperature = nil
	case o.Temperature != nil:
		c.Temperature = o.Temperature
	}
	set(&c.Persona, o.Persona)
	set(&c.ContextLimit, o.ContextLimit)
	set(&c.NoRepo, o.NoRepo)
	set(&c.NoInteraction, o.NoInteraction)
	set(&c.NoWeb, o.NoWeb)
	set(&c.NoProposals, o.NoProposals)
	set(&c.NoMemory, o.NoMemory)
}

// OptionsOf are the options that make what a run has; what its agent and model say is absent.
func OptionsOf(c sdk.RunConfig) RunOptions {
	return RunOptions{
		Temperature: c.Temperature, Persona: given(c.Persona), ContextLimit: given(c.ContextLimit),
		NoRepo: given(c.NoRepo), NoInteraction: given(c.NoInteraction), NoWeb: given(c.NoWeb), NoProposals: given(c.NoProposals), NoMemory: given(c.NoMemory),
	}
}

// given is nil for what is not.
func given[T comparable](v T) *T {
	var none T
	if v == none {
		return nil
	}
	return &v
}

func set[T any](to, from *T) {
	if from != nil {
		*to = *from
	}
}

// RunConfig is the parameters of run/config. Without any but the run it changes nothing
// and answers with what is in force.
type RunConfig struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Model   string `json:"model,omitempty" access:"free" jsonschema:"a model's alias or provider/name, for prompts that name none"`
	RunOptions
}

// Configured answers run/config with what counts from the run's next prompt on.
type Configured struct {
	Run   string `json:"run"` // the alias
	ID    int64  `json:"id"`
	Agent string `json:"agent"`
	Model string `json:"model"`
	sdk.RunConfig
}
