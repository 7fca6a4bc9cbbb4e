package rpc

// Aborted answers run/abort. Status is the run's status at that moment, which
// may still be 102: the end itself is in the journal, and prompts that wait go
// on after it.
type Aborted struct {
	Run    string `json:"run"`
	ID     int64  `json:"id"`
	Status int    `json:"status"`
	Queued int    `json:"queued"`         // prompts that waited, and run now
	Held   int    `json:"held,omitempty"` // prompts that wait and are not begun, when that was asked for
}

// Fork is the parameters of run/fork.
type Fork struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	As      string `json:"as,omitempty" access:"alias" jsonschema:"the alias of the new run; made up when absent"`
	Turn    int    `json:"turn,omitempty" access:"free" jsonschema:"as the run was after this turn; after its last one when absent"`
}

// Forked answers run/fork.
type Forked struct {
	Run    string  `json:"run"`
	ID     int64   `json:"id"`
	Parent RunName `json:"parent"`
	Turn   int     `json:"turn"` // the last turn that it has from its parent
}

// Changed answers run/reset, run/delete and run/rename.
type Changed struct {
	Run string `json:"run"` // the alias, after a rename the new one
	ID  int64  `json:"id"`
}

// Left answers run/leave. Where something of the run is open it rests when that is over.
type Left struct {
	Run    string `json:"run"`
	ID     int64  `json:"id"`
	Rested bool   `json:"rested"` // it rests now, and did not before
}

// Rename is the parameters of run/rename.
type Rename struct {
	Run     string `json:"run" access:"run" jsonschema:"the run's alias in the project, or its id"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Name    string `json:"name" access:"alias" jsonschema:"the new alias: 1 to 64 of A-Z a-z 0-9 _ -"`
}
