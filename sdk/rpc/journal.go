package rpc

import "github.com/bothyd/bothy/sdk"

// JournalParams is the parameters of journal/read. Rows of other runs and
// projects are left out; with neither, all rows come.
type JournalParams struct {
	Run     string `json:"run,omitempty" access:"run" jsonschema:"the run's alias in the project, or its id; all runs when absent"`
	Project string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; all projects when absent"`
	After   int64  `json:"after,omitempty" access:"free" jsonschema:"rows behind this position; from the first when absent"`
	Limit   int    `json:"limit,omitempty" access:"free" jsonschema:"at most so many, 100 when absent"`

	Children bool `json:"children,omitempty" access:"free" jsonschema:"of a run: also the rows of its children and theirs, in one order"`
}

// JournalPage answers journal/read. A page also ends when its bodies reach
// 4 MiB, and it may be empty where other runs' rows stand. Bodies are those
// that [Row] has.
type JournalPage struct {
	Rows []sdk.JournalRow `json:"rows"`
	Next int64            `json:"next,omitempty"` // go on with after = next; 0 when this was all
	Seq  int64            `json:"seq"`            // the journal's position
}

// WatchParams is the parameters of journal/watch. Rows of other runs and
// projects are left out; with neither, all rows come. A project in which nothing
// was done yet is waited for.
type WatchParams struct {
	Run      string `json:"run,omitempty" access:"run" jsonschema:"the run's alias in the project, or its id; all runs when absent"`
	Project  string `json:"project,omitempty" access:"project" jsonschema:"absolute path of the project; all projects when absent"`
	After    *int64 `json:"after,omitempty" access:"free" jsonschema:"rows behind this position; only new rows when absent, 0 for all"`
	Preview  bool   `json:"preview,omitempty" access:"free" jsonschema:"send run/preview too"`
	States   States `json:"states,omitempty" access:"free" jsonschema:"in place of journal/row send run/state, run/progress, run/proposal, stream/cancelled, ui/render and ui/notify; whole, or increments"`
	Children bool   `json:"children,omitempty" access:"free" jsonschema:"of a run: also what its children do and theirs, the runs that work was delegated to, in one order; previews and states too"`
	Attend   bool   `json:"attend,omitempty" access:"approve" jsonschema:"this connection answers what these runs propose, as long as the watch lasts; needs the role approve"`
}

// States is how a watch tells the states of its runs.
type States string

// The forms of run/state.
const (
	StatesWhole      States = "whole"      // each has the whole history
	StatesIncrements States = "increments" // each has of history and unknowns what changed since the one before
)

// Watching answers journal/watch. Rows may arrive before it does.
type Watching struct {
	Watch int64 `json:"watch"`
	Seq   int64 `json:"seq"` // the journal's position
}

// WatchRef is the parameters of journal/unwatch.
type WatchRef struct {
	Watch int64 `json:"watch" access:"free"`
}

// Row is the notification journal/row. Row.Body is missing when the entry has
// moved on, and when it is longer than 512 KiB: getEntries has it.
type Row struct {
	Watch int64          `json:"watch"`
	Row   sdk.JournalRow `json:"row"`
}

// Gap is the notification journal/gap: the client read too slowly, and the
// watch is over. Nothing is lost: watch again with after = From-1.
type Gap struct {
	Watch int64 `json:"watch"`
	From  int64 `json:"from"` // the first position that was not sent
	To    int64 `json:"to"`   // the journal's position when the watch ended
}

// Preview is the notification run/preview: text that a model is still
// writing. It is not committed and may be dropped; what counts is the entry
// assistant://TURN in the journal. Who begins to watch in the middle of an
// answer gets, behind the rows that are there, one piece that is Whole, and then
// what follows.
type Preview struct {
	Watch     int64  `json:"watch"`
	Preview   bool   `json:"preview"` // always true: the mark of what is not committed
	Run       int64  `json:"run"`
	Loop      int64  `json:"loop"`
	Turn      int    `json:"turn"`
	Text      string `json:"text,omitempty"`      // to append
	Reasoning string `json:"reasoning,omitempty"` // to append
	First     bool   `json:"first,omitempty"`     // the turn's answer begins with this piece
	Whole     bool   `json:"whole,omitempty"`     // all that there is of the answer so far: it takes the place of the turn's text so far. With Dropped only the end of it
	Restart   bool   `json:"restart,omitempty"`   // the completion begins anew: forget the turn's text so far
	Dropped   bool   `json:"dropped,omitempty"`   // some text before this piece was dropped

	// Calls are those that the model has begun to write, behind Text; each is told once.
	Calls []sdk.Forming `json:"calls,omitempty"`
}
