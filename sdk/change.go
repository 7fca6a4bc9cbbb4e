package sdk

import "encoding/json"

// Write is one change of one entry. The empty fields keep what is there; on a
// new entry they take the scheme's defaults (resolved, visible).
type Write struct {
	Path       string          `json:"path"`
	Body       *string         `json:"body,omitempty"`       // nil keeps the body
	Attributes json.RawMessage `json:"attributes,omitempty"` // merged into the present object (RFC 7386); nil keeps
	Visibility Visibility      `json:"visibility,omitempty"`
	State      State           `json:"state,omitempty"`
	Outcome    Outcome         `json:"outcome,omitempty"`
	Writer     Writer          `json:"writer,omitempty"` // required; refused with Permission when the scheme does not admit it
	Phase      Phase           `json:"-"`                // engine only
	Turn       int             `json:"-"`
	Loop       int64           `json:"-"`

	// Create refuses with Conflict when the run already sees the path.
	Create bool `json:"create,omitempty"`
	// Expect, when not empty, refuses with Conflict unless the entry is in this phase.
	Expect Phase `json:"-"`
	// ExpectVersion, when not 0, refuses with Conflict unless the run sees this version of the entry.
	ExpectVersion int `json:"-"`
	// ExpectHash, when not empty, refuses with Conflict unless the entry's body has this SHA-256, in hex.
	ExpectHash string `json:"-"`
	// Check writes nothing: the change is made only where the entry is as it is expected to be.
	Check bool `json:"-"`
	// Append puts Body behind what the entry has, in place of it.
	Append bool `json:"-"`
	// Look changes Visibility and nothing else: how much of the entry the run has in sight,
	// whoever may write the entry. Writer, version and turn of the run's view stay as they are, but that data and
	// unknowns which become visible are of the Turn in which they do. What
	// the run shares and has no view of gets one (EntryQuery.Shared). Refused with Permission for
	// schemes of the audit, where it is not the daemon's own (WriterSystem), with NotFound where no entry is.
	Look bool `json:"-"`
	// Remove drops the entry from the run's view. All other fields but Path, Writer and what is expected are ignored.
	Remove bool `json:"remove,omitempty"`
	// Chunk appends to the entry's stream instead of writing its body. A later
	// write of State with an ended state folds the stream away under its Body.
	Chunk *Chunk `json:"chunk,omitempty"`
}

// Chunk is a piece of a stream: a command's output while it runs.
type Chunk struct {
	Channel int    `json:"channel"` // 1 is standard output, 2 standard error
	Text    string `json:"text"`    // valid UTF-8
}

// Change is everything that one commit writes to one run: it is durable as a
// whole, with its journal rows, or not at all.
type Change struct {
	Run       int64
	Writes    []Write
	OpenTurn  *Turn // inserted, and Run.NextTurn moves past it
	CloseTurn *Turn // usage, finish reason and model of an open turn
	EndLoop   *LoopEnd
	Before    []Note // of what the writes came of: their rows are told before those of the writes
	Notes     []Note
	Status    int // moves the run: 202 while a proposal waits, 102 when it goes on; 0 keeps
	// Children are runs that are made, each with its first prompt at work: the Run of each names this one as its
	// Delegator, and as DelegatedBy the path of one of Writes, whose entry gets the attribute child.
	Children []Child

	// Queued is called once the change has its place: what is committed from then on
	// comes behind it. It must return at once; nil is nothing to call.
	Queued func()
}

// Note is a journal row that speaks of no entry: progress, a retry, a warning.
type Note struct {
	Kind string
	Loop int64
	Turn int
	Data any // encoded as JSON
}

// LoopEnd ends a loop and moves its run to the state that follows. Its JSON is the
// Data of a KindLoopEnded row.
type LoopEnd struct {
	Loop int64 `json:"-"`
	// Waiting refuses, with conflict, to end one that was begun.
	Waiting bool   `json:"-"`
	Status  int    `json:"status"` // 200, 204, 413, 422, 499 or 500; kept as it is on the loop
	Reason  string `json:"reason"` // one sentence for a person
	Stop    string `json:"stop"`   // a stop reason (stop.go), or the name of the guard that ended it
}

// Receipt is what a commit answers: the journal's position after it, the written
// entries in the order of the writes, and the children as they were made.
type Receipt struct {
	Seq      int64
	Entries  []Entry
	Children []Child
}
