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

// ModelAdd is the parameters of addModel, which writes a model block into the user's configuration.
type ModelAdd struct {
	Alias         string `json:"alias" access:"free" jsonschema:"the name of the block, by which a prompt may name the model: a-z, 0-9, dot, dash and underscore"`
	Actual        string `json:"actual" access:"free" jsonschema:"provider/name: a provider of the configuration, and its own name for the model"`
	ContextLength int    `json:"contextLength,omitempty" access:"free" jsonschema:"in tokens; what the provider says when absent"`
}

// ModelAdded answers addModel: the model can be named.
type ModelAdded struct {
	Alias   string `json:"alias"`
	Actual  string `json:"actual"`
	File    string `json:"file"`    // the configuration
	Changed bool   `json:"changed"` // false: a block said this already
}

// ModelRef is the parameters of removeModel, which takes a model block out of the user's configuration.
type ModelRef struct {
	Alias string `json:"alias" access:"free" jsonschema:"the name of the block"`
}

// ModelRemoved answers removeModel.
type ModelRemoved struct {
	Alias string `json:"alias"`
	File  string `json:"file"` // the configuration
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
