package rpc

import (
	"time"

	"github.com/bothyd/bothy/sdk"
)

// PromptsParams is the parameters of prompts/list.
type PromptsParams struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Limit   int    `json:"limit,omitempty" access:"free" jsonschema:"at most so many, 100 when absent"`
	Offset  int    `json:"offset,omitempty" access:"free"`
}

// Prompts answers prompts/list, newest first: the prompts that a run was given itself.
type Prompts struct {
	Run     string          `json:"run"`
	ID      int64           `json:"id"`
	Held    bool            `json:"held,omitempty"` // those that wait are not begun until run/release
	Prompts []PromptSummary `json:"prompts"`
}

// PromptSummary is one prompt of a run, and what the work on it came to.
type PromptSummary struct {
	Sequence    int              `json:"sequence"` // its number in the run; run/undo and run/changes take it as prompt
	Loop        int64            `json:"loop"`
	Prompt      string           `json:"prompt"`        // cut to 16 KiB
	Cut         int              `json:"cut,omitempty"` // bytes left out of Prompt
	Attachments []sdk.Attachment `json:"attachments,omitempty"`
	Media       []sdk.Medium     `json:"media,omitempty"` // without their data, which the entries of their URIs have
	ReadOnly    bool             `json:"read_only"`
	Agent       string           `json:"agent"`
	Model       string           `json:"model"`
	Mode        sdk.Mode         `json:"permission_mode,omitempty"`
	Status      int              `json:"status"` // 100 waits, 102 at work, else how it ended
	Stop        string           `json:"stop,omitempty"`
	Reason      string           `json:"reason,omitempty"`
	Turns       int              `json:"turns"`
	First       int              `json:"first,omitempty"` // its first turn, by its number in the run
	Last        int              `json:"last,omitempty"`
	Duration    sdk.Millis       `json:"duration_ms"` // of its turns
	Created     time.Time        `json:"created"`
	Ended       time.Time        `json:"ended,omitzero"`
	Files       []PromptFile     `json:"files"`          // at most 100; prompts/files has all
	More        int              `json:"more,omitempty"` // files beyond them
	Untold      int              `json:"untold,omitempty"`
}

// PromptFile is a path that the work on a prompt changed, as its tools told, whatever
// became of it later.
type PromptFile struct {
	Path   string `json:"path"`
	From   string `json:"from,omitempty"` // moved: where it was
	Kind   string `json:"kind"`           // "file", "directory" or "link"
	Status string `json:"status"`         // "added", "changed", "deleted" or "moved"
	Turns  []int  `json:"turns"`
	Undone bool   `json:"undone,omitempty"` // all of it was taken back
}

// PromptFiles answers prompts/files, by path.
type PromptFiles struct {
	Run    string       `json:"run"`
	ID     int64        `json:"id"`
	Prompt int          `json:"prompt"`
	Files  []PromptFile `json:"files"`
	Untold int          `json:"untold,omitempty"` // calls that may have changed files that nobody told of
}
