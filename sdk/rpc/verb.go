package rpc

import (
	"encoding/json"

	"github.com/bothyd/bothy/sdk"
)

// The parameters of the six verbs on entries, with the meaning of sdk.EntryCall. Each answers
// with sdk.EntryDone.

// The path run://ALIAS is a run of the project itself: set gives it a prompt (body), makes or configures it (attributes
// alone), or ends its work (state cancelled); attributes are then parameters of act, run/config, startRun
// or run/abort, and mode is ask or act. get reads runs, mv renames one. run is not needed there.

// Set is the parameters of set.
type Set struct {
	Run        string          `json:"run,omitempty" access:"run" jsonschema:"the run's alias in the project, or its id; needed unless path is run://ALIAS"`
	Project    string          `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Owner      string          `json:"owner,omitempty" access:"owner" jsonschema:"in the place of a run: whose entry it is, of the scope owner; local, or another's, which needs the role admin"`
	Path       string          `json:"path" access:"free" jsonschema:"of an entry, or a pattern: without a body, or with pattern; with a body also a file of the project, which has no scheme"`
	Body       *string         `json:"body,omitempty" access:"free" jsonschema:"the whole text, which is in sight then; absent it stays as it is"`
	Append     bool            `json:"append,omitempty" access:"free" jsonschema:"body goes behind what is there"`
	State      sdk.State       `json:"state,omitempty" access:"free" jsonschema:"resolved, failed or cancelled; of what the run proposes, an answer to it, with body as the output, which needs the role approve"`
	Outcome    sdk.Outcome     `json:"outcome,omitempty" access:"free" jsonschema:"why it failed or was cancelled, in a word"`
	Visibility sdk.Visibility  `json:"visibility,omitempty" access:"free" jsonschema:"visible, summarized or archived"`
	Attributes json.RawMessage `json:"attributes,omitempty" access:"free" jsonschema:"an object, merged into what is there (RFC 7386)"`
	Summary    string          `json:"summary,omitempty" access:"free" jsonschema:"the attribute of that name, cut at 80 characters"`
	Pattern    bool            `json:"pattern,omitempty" access:"free" jsonschema:"with a body: path is a pattern, and no entry is made"`
	Filter     string          `json:"filter,omitempty" access:"free" jsonschema:"a pattern: only entries whose body has it"`
}

// Get is the parameters of get. With line, limit or preview nothing changes.
type Get struct {
	Run     string `json:"run,omitempty" access:"run" jsonschema:"the run's alias in the project, or its id; needed unless path is run://ALIAS"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Path    string `json:"path" access:"free" jsonschema:"of an entry, or a pattern"`
	Line    int    `json:"line,omitempty" access:"free" jsonschema:"the first line; -1 is the last one"`
	Limit   int    `json:"limit,omitempty" access:"free" jsonschema:"at most so many lines"`
	Preview bool   `json:"preview,omitempty" access:"free" jsonschema:"only list what would be made visible"`
	Filter  string `json:"filter,omitempty" access:"free" jsonschema:"a pattern: only entries whose body has it"`

	Persist  bool `json:"persist,omitempty" access:"approve" jsonschema:"the files that path names are entries of the project from now on, also where git ignores them; needs the role approve"`
	ReadOnly bool `json:"readonly,omitempty" access:"approve" jsonschema:"likewise, and no run writes them"`
}

// Remove is the parameters of rm.
type Remove struct {
	Run     string `json:"run,omitempty" access:"run" jsonschema:"the run's alias in the project, or its id; needed unless an owner is named, and but for what a channel keeps for itself"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Owner   string `json:"owner,omitempty" access:"owner" jsonschema:"in the place of a run: whose entries, of the scope owner; local, or another's, which needs the role admin"`
	Path    string `json:"path" access:"free" jsonschema:"of an entry, a pattern, or a file of the project"`
	Filter  string `json:"filter,omitempty" access:"free" jsonschema:"a pattern: only entries whose body has it"`
}

// Move is the parameters of cp and mv.
type Move struct {
	Run        string         `json:"run,omitempty" access:"run" jsonschema:"the run's alias in the project, or its id; needed unless path is run://ALIAS"`
	Project    string         `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Path       string         `json:"path" access:"free" jsonschema:"of the entry, or of a file of the project"`
	To         string         `json:"to" access:"free" jsonschema:"the path it shall have, that of a file too; what is there is overwritten"`
	Visibility sdk.Visibility `json:"visibility,omitempty" access:"free" jsonschema:"that of the source when absent"`
}

// Update is the parameters of update.
type Update struct {
	Run        string          `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project    string          `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Body       string          `json:"body" access:"free" jsonschema:"how far the work has come"`
	Status     int             `json:"status,omitempty" access:"free" jsonschema:"102 when absent; 200, 204 or 422. It ends nothing: only a model ends its work"`
	Attributes json.RawMessage `json:"attributes,omitempty" access:"free" jsonschema:"an object, merged into what is there (RFC 7386)"`
}

// Store is the parameters of store: what a project makes of some of its files, and whether a run has them in sight. It says one of
// persist, ignore and clear, or names a run.
type Store struct {
	Path    string `json:"path" access:"free" jsonschema:"of files from the project's folder on, or a pattern"`
	Run     string `json:"run,omitempty" access:"run" jsonschema:"the run's alias in the project, or its id: the entries of path are archived for it"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with the id of a run"`
	Persist bool   `json:"persist,omitempty" access:"approve" jsonschema:"the files are entries of the project, also where git ignores them; needs the role approve"`
	Ignore  bool   `json:"ignore,omitempty" access:"approve" jsonschema:"the files are no entries; needs the role approve"`
	Clear   bool   `json:"clear,omitempty" access:"approve" jsonschema:"takes away what was said of this path; needs the role approve"`
}

// Stored answers store.
type Stored struct {
	Text    string       `json:"text,omitempty"`    // what the run has out of sight now
	Scanned *sdk.Scanned `json:"scanned,omitempty"` // what the project's files come to; nil when nothing was said of them
}
