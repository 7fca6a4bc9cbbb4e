package rpc

import (
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// Abort is the parameters of run/abort.
type Abort struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Hold    bool   `json:"hold,omitempty" access:"free" jsonschema:"begin none of the prompts that wait until run/release, or until they are taken back"`
}

// Released answers run/release.
type Released struct {
	Run    string `json:"run"`
	ID     int64  `json:"id"`
	Queued int    `json:"queued"` // prompts that were held, and run now
}

// PromptRef names a prompt of a run, by its number in the run.
type PromptRef struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Prompt  int    `json:"prompt" access:"free" jsonschema:"the prompt's number in the run, from 1 on"`
}

// TakenBack answers prompts/take: the prompt as it was given, whatever became of it.
type TakenBack struct {
	Run      string `json:"run"`
	ID       int64  `json:"id"`
	Loop     int64  `json:"loop"`
	Sequence int    `json:"sequence"`
	// Taken is whether it was taken back now. It was not when work on it has begun or
	// ended, which Status tells: 102 at work, else how it ended.
	Taken       bool             `json:"taken"`
	Status      int              `json:"status"`
	Prompt      string           `json:"prompt"`
	Attachments []sdk.Attachment `json:"attachments,omitempty"`
	Media       []sdk.Medium     `json:"media,omitempty"` // without their data, which the entries of their URIs have
	Schema      json.RawMessage  `json:"schema,omitempty"`
	ReadOnly    bool             `json:"read_only"`
	Agent       string           `json:"agent"`
	Model       string           `json:"model"`
	Mode        sdk.Mode         `json:"permission_mode,omitempty"`
}
