package rpc

import "github.com/bothyd/bothy/sdk"

// EntriesParams is the parameters of getEntries. It finds what the run has a view of, in the order of its
// first appearance, and behind that, archived, what it shares with others and has no view of.
type EntriesParams struct {
	Run     string `json:"run,omitempty" access:"run" jsonschema:"the run's alias in the project, or its id; the newest of the project when absent"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; not needed with an id"`
	Owner   string `json:"owner,omitempty" access:"owner" jsonschema:"in the place of a run: whose entries, of the scope owner; local, or another's, which needs the role admin"`
	Pattern string `json:"pattern,omitempty" access:"free" jsonschema:"pattern over paths (glob, regular expression or the path itself); all when absent"`
	Body    string `json:"body,omitempty" access:"free" jsonschema:"a pattern: only entries whose body has it"`
	Brief   bool   `json:"brief,omitempty" access:"free" jsonschema:"without bodies"`
	Limit   int    `json:"limit,omitempty" access:"free" jsonschema:"at most so many, 100 when absent"`
	Offset  int    `json:"offset,omitempty" access:"free" jsonschema:"entries to pass over, which next of the page before says"`
}

// Entries answers getEntries. A page also ends when its bodies reach 4 MiB, or, with a filter of bodies, when 64 MiB or for
// 2 s were looked through; it may be empty then and not the last.
type Entries struct {
	Entries []sdk.Entry `json:"entries"`
	Next    int         `json:"next,omitempty"` // the offset to go on with; 0 when this was all
}
