package sdk

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
)

// Verb is one of the six by which entries are used (docs/entries.md, Verbs): the same
// for a model's tools, for plugins and for clients.
type Verb string

// The six verbs.
const (
	VerbSet    Verb = "set"    // creates or changes an entry
	VerbGet    Verb = "get"    // makes one visible, and answers with its body
	VerbRemove Verb = "rm"     // takes one out of the run's view
	VerbCopy   Verb = "cp"     // copies one to another path
	VerbMove   Verb = "mv"     // gives one another path
	VerbUpdate Verb = "update" // says how far the work has come, or that it has ended
)

// Verbs are all six.
func Verbs() []Verb {
	return []Verb{VerbSet, VerbGet, VerbRemove, VerbCopy, VerbMove, VerbUpdate}
}

// The bounds of what a verb is told.
const (
	MaxTarget  = 512 // bytes of a path or pattern that it names
	MaxSummary = 80  // characters of a summary; what is longer is cut
)

// UpdatePath is where a turn's update stands.
func UpdatePath(turn int) string { return "update://turn_" + strconv.Itoa(turn) }

// EntryCall is one use of a verb. A field that the verb does not take is refused.
type EntryCall struct {
	Verb Verb `json:"verb"`
	// Path is that of an entry; for set, get and rm also a pattern, when no entry has that path. Of a client, one
	// without a scheme is a file: set with a Body, rm, cp and mv change it (decision 91).
	Path string `json:"path,omitempty"`
	To   string `json:"to,omitempty"` // of cp and mv

	Body       *string         `json:"body,omitempty"`   // of set and update
	Append     bool            `json:"append,omitempty"` // Body goes behind what is there
	State      State           `json:"state,omitempty"`
	Outcome    Outcome         `json:"outcome,omitempty"` // of the state failed or cancelled
	Visibility Visibility      `json:"visibility,omitempty"`
	Attributes json.RawMessage `json:"attributes,omitempty"` // merged into what is there (RFC 7386)
	Summary    string          `json:"summary,omitempty"`    // the attribute of that name

	Pattern bool   `json:"pattern,omitempty"` // of set with a body: Path is a pattern, and nothing is made
	Filter  string `json:"filter,omitempty"`  // a pattern: only entries whose body has it

	// Line and Limit are of get: lines from Line on, 1 is the first and -1 the last, at most Limit.
	// The entry stays as it was in sight. Of one path only.
	Line    int  `json:"line,omitempty"`
	Limit   int  `json:"limit,omitempty"`
	Preview bool `json:"preview,omitempty"` // of get and rm: what would be made visible or removed, and nothing is

	Status int `json:"status,omitempty"` // of update: 102 (when absent), or 200, 204, 422, which end the work
}

// Arguments are what the verb is told, in the form in which a model writes it.
func (c EntryCall) Arguments() (json.RawMessage, error) {
	type told EntryCall
	return json.Marshal(struct {
		told
		Verb string `json:"verb,omitempty"`
	}{told: told(c)})
}

// Told are the names of what the verb is told, in order and as in JSON. An error is a validation error: attributes that
// are no JSON.
func (c EntryCall) Told() ([]string, error) {
	text, err := c.Arguments()
	var told map[string]json.RawMessage
	if err == nil {
		err = json.Unmarshal(text, &told)
	}
	if err != nil {
		return nil, Errorf(Validation, "what %s was told cannot be read: %w", c.Verb, err)
	}
	return slices.Sorted(maps.Keys(told)), nil
}

// EntryDone is what a use of a verb came to.
type EntryDone struct {
	Text string `json:"text"` // for whoever reads it: what was done, or what get found
	// Entries are those that it found or changed, as they are now; those that went as they were. Of what
	// a pattern fits they are the first, by path. They have a body where get read them whole.
	Entries   []Entry `json:"entries,omitempty"`
	More      int     `json:"more,omitempty"`      // so many more it found or changed than Entries has
	Overwrote bool    `json:"overwrote,omitempty"` // something was at the destination of cp or mv
	Left      int     `json:"left,omitempty"`      // so many fitted the pattern and may not be changed by the caller
}

// EntryUse says for whom verbs are used.
type EntryUse struct {
	Run    Run
	Writer Writer
	Loop   int64
	Turn   int
	// Within reports whether a path is within the caller's reach; nil is all. What is not is
	// found by no pattern.
	Within func(path string) bool
}

// EntryPlan is what one call comes to: Writes is to be committed, with nothing of the calls
// behind it before. An Err has no writes, and the outcome that the call fails with.
type EntryPlan struct {
	Writes []Write
	Done   EntryDone
	// Foreign says that get read what came from outside ([Entry.IsForeign]).
	Foreign bool
	// InSight says that get made entries visible, and that a model which is shown entries reads there all that Done has of them.
	InSight bool
	Err     error
}
