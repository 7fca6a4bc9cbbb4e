package rpc

import "github.com/bothyd/bothy/sdk"

// ChangesOf is the parameters of run/changes: those of a run, or of the part of it that
// all of the given members fit.
type ChangesOf struct {
	Run     string   `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string   `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Prompt  int      `json:"prompt,omitempty" access:"free" jsonschema:"what one prompt caused, by its number in the run"`
	Turn    int      `json:"turn,omitempty" access:"free" jsonschema:"what one turn did, by its number in the run"`
	Action  string   `json:"action,omitempty" access:"free" jsonschema:"what one call did, with those that were made for it: log://turn_N/TOOL/NAME"`
	Paths   []string `json:"paths,omitempty" access:"free" jsonschema:"what was done at the paths that fit one of these globs, relative to the project"`
	Redo    bool     `json:"redo,omitempty" access:"free" jsonschema:"what run/redo would make again, and nothing else"`
}

// Changes answers run/changes: what a run changed in its project's files, as
// far as its tools told of it.
type Changes struct {
	Run         string           `json:"run"`
	ID          int64            `json:"id"`
	Project     string           `json:"project"`
	Differences []sdk.Difference `json:"differences"` // by path
	// Untold is how many calls may have changed files that nobody told of:
	// commands that worked on the project itself, and calls that were cut short or made twice.
	Untold int `json:"untold"`
	// Unfinished says that they were being taken back when that was cut short.
	Unfinished bool `json:"unfinished,omitempty"`
}

// Undo is the parameters of run/undo.
type Undo struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Partial bool   `json:"partial,omitempty" access:"free" jsonschema:"take back what can be, though something else touched the rest"`

	Prompt int      `json:"prompt,omitempty" access:"free" jsonschema:"as of run/changes"`
	Turn   int      `json:"turn,omitempty" access:"free" jsonschema:"as of run/changes"`
	Action string   `json:"action,omitempty" access:"free" jsonschema:"as of run/changes"`
	Paths  []string `json:"paths,omitempty" access:"free" jsonschema:"as of run/changes"`
}

// Of are the changes that it takes back.
func (u Undo) Of() ChangesOf {
	return ChangesOf{Run: u.Run, Project: u.Project, Prompt: u.Prompt, Turn: u.Turn, Action: u.Action, Paths: u.Paths}
}

// Redo is the parameters of run/redo.
type Redo struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Partial bool   `json:"partial,omitempty" access:"free" jsonschema:"make again what can be, though something else touched the rest"`
}

// Undone answers run/undo and run/redo.
type Undone struct {
	Run   string           `json:"run"`
	ID    int64            `json:"id"`
	Taken []sdk.Difference `json:"taken"` // what was taken back; of run/redo what was made again
	Left  []sdk.Difference `json:"left"`  // what could not be
	Kept  []string         `json:"kept"`  // folders that the run made, with other things in them by now
}
