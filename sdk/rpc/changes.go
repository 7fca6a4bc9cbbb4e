package rpc

import "github.com/bothyd/bothy/sdk"

// Changes answers run/changes: what a run changed in its project's files, as
// far as its tools told of it.
type Changes struct {
	Run         string           `json:"run"`
	ID          int64            `json:"id"`
	Project     string           `json:"project"`
	Differences []sdk.Difference `json:"differences"` // by path
	// Untold is how many calls may have changed files that nobody told of:
	// commands in the sandbox, and calls that were cut short or made twice.
	Untold int `json:"untold"`
	// Unfinished says that they were being taken back when that was cut short.
	Unfinished bool `json:"unfinished,omitempty"`
}

// Undo is the parameters of run/undo.
type Undo struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Partial bool   `json:"partial,omitempty" access:"free" jsonschema:"take back what can be, though something else touched the rest"`
}

// Undone answers run/undo.
type Undone struct {
	Run   string           `json:"run"`
	ID    int64            `json:"id"`
	Taken []sdk.Difference `json:"taken"` // what was taken back
	Left  []sdk.Difference `json:"left"`  // what could not be
	Kept  []string         `json:"kept"`  // folders that the run made, with other things in them by now
}
