package rpc

import "github.com/bothyd/bothy/sdk"

// ModelsParams is the parameters of getModels.
type ModelsParams struct {
	Limit  int `json:"limit,omitempty" access:"free" jsonschema:"at most so many; all when absent"`
	Offset int `json:"offset,omitempty" access:"free"`
}

// Model is one model that a prompt may name.
type Model struct {
	Alias         string `json:"alias"`  // what to write after -m
	Actual        string `json:"actual"` // the provider's own name
	Provider      string `json:"provider"`
	ContextLength int    `json:"context_length,omitempty"` // in tokens; 0 is unknown
	Tools         *bool  `json:"tools,omitempty"`          // whether it calls tools; nil is unknown
	Local         bool   `json:"local"`                    // its server runs on this machine
	// Fallback are the models that answer in its place when it cannot, in order.
	Fallback []string `json:"fallback,omitempty"`
	Default  bool     `json:"default"`       // a prompt that names no model gets this one
	Why      string   `json:"why,omitempty"` // of the default: why, and how to change it
}

// Models answers getModels. Problems says which providers could not be asked.
type Models struct {
	Models   []Model  `json:"models"`
	Problems []string `json:"problems"`
}

// Pull is the parameters of models/pull.
type Pull struct {
	Model string `json:"model" access:"free" jsonschema:"provider/name, or a name of the first local Ollama"`
}

// Pulled answers models/pull: the model can be used.
type Pulled struct {
	Model string `json:"model"` // its alias
}

// PullProgress is the notification models/progress. It comes to the connection that
// asked for a model, ahead of the answer; not every step is told to one that reads
// slowly.
type PullProgress = sdk.PullProgress
