package sdk

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"time"
)

// Project is a directory that the daemon knows.
type Project struct {
	ID      int64     `json:"id"`
	Name    string    `json:"name"`
	Root    string    `json:"root"` // absolute, symlinks resolved
	Created time.Time `json:"created"`
}

// Run is a named, long-lived piece of work in a project.
type Run struct {
	ID      int64  `json:"id"`
	Project int64  `json:"project"`
	Alias   string `json:"alias"`            // unique in its project: [A-Za-z0-9_-]{1,64}
	Key     string `json:"key"`              // random; names the run's folder and its container
	Parent  int64  `json:"parent,omitempty"` // the run that it is a fork of
	// Delegator is the run whose agent delegated the work that this one is for, and DelegatedBy the path of that
	// call there; a run with them is a child.
	Delegator   int64  `json:"delegator,omitempty"`
	DelegatedBy string `json:"delegated_by,omitempty"`
	// Writes are globs of the only paths of the project that the run may change; nil is all that its mode lets it.
	Writes []string `json:"writes,omitempty"`
	// Offline says that nothing in the run reaches a network: the agent that delegated the work has none.
	Offline bool   `json:"offline,omitempty"`
	Agent   string `json:"agent"`
	Model   string `json:"model"`            // the model's alias or provider/name
	Status  int    `json:"status"`           // 100, 102, 200, 202, 499 or 500
	Hidden  bool   `json:"hidden,omitempty"` // the implicit run behind `tools call`
	// Private says that a channel made it: its tools and commands have a folder of the run's own
	// (Folder), nothing of the project, and little memory.
	Private bool `json:"private,omitempty"`
	Origin
	// Conversation is that of the channel that began it (From.Name); empty where none did.
	Conversation string `json:"-"`
	RunConfig
	Turns   int       `json:"turns"` // turns opened so far; the next is Turns+1
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// Folder is where the tools of a private run work that work in the project of others: a folder of its own below that of
// the run, which its commands have at /workspace. It is empty of a run that is not private.
func (r Run) Folder(runDir string) string {
	if !r.Private {
		return ""
	}
	return filepath.Join(runDir, "workspace")
}

// Aliases are those of runs, in their order; nil of none.
func Aliases(runs []Run) []string {
	var all []string
	for _, r := range runs {
		all = append(all, r.Alias)
	}
	return all
}

// ForHook is the run as payloads of hooks have it: without its persona, which may be long and which only its
// model needs.
func (r Run) ForHook() Run {
	r.Persona = ""
	return r
}

// Loop is one prompt and all the turns it causes. The loops of a run are its
// queue: first in, first out, one running at a time.
type Loop struct {
	ID       int64           `json:"id"`
	Run      int64           `json:"run"`
	Sequence int             `json:"sequence"`  // 1, 2, ... within the run
	ReadOnly bool            `json:"read_only"` // given by ask: it has no side effects, in every mode
	Model    string          `json:"model"`
	Agent    string          `json:"agent"`
	Prompt   string          `json:"prompt"`
	Meaning  *Meaning        `json:"-"` // of the prompt; set only when it is queued, and then part of its entry
	Change   *RunChange      `json:"-"` // set only when it is queued
	Status   int             `json:"status"`
	Reason   string          `json:"reason,omitempty"`
	Stop     string          `json:"stop,omitempty"`
	Options  json.RawMessage `json:"options,omitempty"`
	// Result is what the agent handed over by ToolFinish. It is set where a run is told (getRun); the call has it.
	Result  json.RawMessage `json:"result,omitempty"`
	Created time.Time       `json:"created"`
	Ended   time.Time       `json:"ended,omitzero"`
}

// RunChange is what a prompt changes in its run. It is part of the commit that queues the prompt:
// one that is refused leaves the run as it was.
type RunChange struct {
	Configure func(*Run) // its model and what it has of its own; nil changes nothing
	Writes    []Write
}

// Attachment is a file of the project, or a range of its lines, that a person gives a
// model with a prompt. The daemon reads it when the prompt is queued.
type Attachment struct {
	Path string `json:"path"`           // relative to the project
	From int    `json:"from,omitempty"` // the first line, counted from 1; 0 is the file's first
	To   int    `json:"to,omitempty"`   // the last line; 0 is the file's last
}

// Meaning is what a prompt stands for that is not its own text: a skill, which a
// person used by /name, or a text with the files that are attached to it. People see the prompt as it was typed.
type Meaning struct {
	Skill string `json:"skill"`
	Text  string `json:"text"` // what the model reads in the prompt's place; empty is the prompt itself
	// Media are the images that go with it. Each has its Data in the entry that its URI names.
	Media []Medium `json:"media,omitempty"`
}

// Attach is it with what attached files say, in the place of a prompt that m has no text for. Without a text it is m, which may be
// nil.
func (m *Meaning) Attach(prompt, text string) *Meaning {
	if text == "" {
		return m
	}
	if m == nil {
		m = &Meaning{Text: prompt}
	}
	m.Text = strings.TrimRight(m.Text, "\n") + "\n\n" + text
	return m
}

// With is it with images. Without any it is m, which may be nil.
func (m *Meaning) With(media []Medium) *Meaning {
	if len(media) == 0 {
		return m
	}
	if m == nil {
		m = &Meaning{}
	}
	m.Media = media
	return m
}

// Brief is it without the data of its media; nil stays nil.
func (m *Meaning) Brief() *Meaning {
	if m == nil || len(m.Media) == 0 {
		return m
	}
	brief := *m
	brief.Media = BriefMedia(m.Media)
	return &brief
}

// Turn is one round trip with a model.
type Turn struct {
	ID       int64         `json:"id"`
	Run      int64         `json:"run"`
	Loop     int64         `json:"loop"`
	Sequence int           `json:"sequence"` // 1, 2, ... within the run
	Model    string        `json:"model"`
	Usage    *Usage        `json:"usage,omitempty"` // nil when the provider said nothing
	Finish   string        `json:"finish,omitempty"`
	Duration time.Duration `json:"duration"`
	Created  time.Time     `json:"created"`
	Closed   bool          `json:"closed"`
}

// JournalRow is one committed event. Its Seq orders everything; its Hash
// covers the row and the hash before it. Bodies are named by hash, so that one
// can be deleted and the chain still verifies.
type JournalRow struct {
	Seq      int64           `json:"seq"`
	Time     time.Time       `json:"time"`
	Kind     string          `json:"kind"`
	Project  int64           `json:"project,omitempty"`
	Run      int64           `json:"run,omitempty"`
	Loop     int64           `json:"loop,omitempty"`
	Turn     int             `json:"turn,omitempty"`
	Path     string          `json:"path,omitempty"`
	Data     json.RawMessage `json:"data,omitempty"`
	BodyHash string          `json:"body_hash,omitempty"`
	Prev     string          `json:"prev"`
	Hash     string          `json:"hash"`

	// Body is joined when the row is read: the entry's body, while the entry
	// still holds the one this row committed.
	Body *string `json:"body,omitempty"`
}

// The kinds of journal rows. Data of an entry row is EntryChange.
const (
	KindProjectCreated = "project.created"
	KindConstrained    = "project.constrained" // {"pattern","constraint"}; without a constraint it was taken away
	KindRunCreated     = "run.created"
	KindRunStatus      = "run.status"     // {"from":100,"to":102}
	KindRunRenamed     = "run.renamed"    // {"from","to"}
	KindRunConfigured  = "run.configured" // {"model"} and members of RunConfig that became others, of persona its SHA-256
	KindRunReset       = "run.reset"      // its sandbox begins anew
	KindRunExpired     = "run.expired"    // it rested too long to keep its container
	KindRunRested      = "run.rested"     // nobody goes on with it; {"from","to","why"}, as Rest has them
	KindRestHeard      = "run.heard"      // a plugin heard of a rest; {"plugin","to"}
	KindRunDeleted     = "run.deleted"    // its entries are gone; {"reason"}
	KindLoopQueued     = "loop.queued"
	KindLoopStarted    = "loop.started"
	KindLoopEnded      = "loop.ended" // {"status","reason","stop"}
	KindTurnOpened     = "turn.opened"
	KindTurnClosed     = "turn.closed"
	KindEntrySet       = "entry.set"
	KindEntryRemoved   = "entry.removed"
	KindEntryChunk     = "entry.chunk" // {"channel"}; Body is the text, until the stream is folded
	KindNote           = "note"        // prefix of the kinds of notes
)

// The kinds of notes that the daemon writes: rows that speak of no entry.
const (
	KindNoteRetry      = KindNote + ".retry"      // a completion is asked for again; {"message","class","attempt","wait_ms"}
	KindNoteFallback   = KindNote + ".fallback"   // another model answers; {"from","to","why","message"}
	KindNotePruned     = KindNote + ".pruned"     // the prompt had to be shortened to fit the model
	KindNoteWarning    = KindNote + ".warning"    // {"message"}
	KindNoteProgress   = KindNote + ".progress"   // what a tool says of its work; {"message"}
	KindNoteCall       = KindNote + ".call"       // a plugin called a tool; {"plugin","for","tool","arguments","decision"}
	KindNoteCompletion = KindNote + ".completion" // a plugin asked a model; {"plugin","for","model","usage","error"}
	KindNoteRun        = KindNote + ".run"        // a plugin used a run; {"plugin","for","method","run"}
	KindNoteSecurity   = KindNote + ".security"   // a security event that belongs to no action
)

// NoteLevel is how a note of a kind is told to people as it comes: "warn" for what the engine says of its own
// work, "" for what a tool says of its; false for one that is not.
func NoteLevel(kind string) (level string, told bool) {
	switch kind {
	case KindNoteRetry, KindNoteFallback, KindNoteWarning:
		return "warn", true
	case KindNoteProgress:
		return "", true
	}
	return "", false
}

// EntryChange is the Data of a KindEntrySet row. State to Writer are what the
// entry has after the write; Attributes holds only the members that the write
// changed (null for one it removed), so that a follower merges them into what
// it has (RFC 7386).
type EntryChange struct {
	State      State           `json:"state"`
	Outcome    Outcome         `json:"outcome,omitempty"`
	Phase      Phase           `json:"phase,omitempty"`
	Visibility Visibility      `json:"visibility"`
	Writer     Writer          `json:"writer"`
	Attributes json.RawMessage `json:"attributes,omitempty"`

	// Look says that nothing of the entry changed but how much of it the run has in sight
	// (Write.Look), or nothing at all: a fork keeps it where its parent changes it. The row has the
	// loop and the turn of the entry, which may have ended.
	Look bool `json:"look,omitempty"`

	// Hashed names the members whose values are too long to be kept in the
	// journal, with the hex SHA-256 of each value. Reading the row fills such a
	// value into Attributes while the entry still holds it.
	Hashed map[string]string `json:"hashed,omitempty"`
}

// RunFilter says which runs to list.
type RunFilter struct {
	Project  int64         // 0 is all projects
	Hidden   bool          // also the implicit runs behind tool calls
	Children bool          // also those that work was delegated to, which else nobody is shown beside their parents
	Below    int64         // only the children of this run, and theirs; 0 is all runs
	Channel  string        // only those that this channel began; empty is all runs
	Of       *Conversation // only those of it, first the one that was given a prompt last; nil is all runs
	Owner    string        // only those of this owner; empty is all runs
	Search   string        // only those with this text in their alias or in a prompt, whatever the case of A to Z
	Last     bool          // only runs that were given a prompt, and none of a channel: first the one that was given one last
	Limit    int           // 0 is no limit
	Offset   int
}

// EntryQuery says which entries are read, and how much of each. Those of a run come
// in the order in which they first appeared in it; a queued prompt takes its place
// when its loop is claimed.
type EntryQuery struct {
	Run int64 // what this run sees

	// Project is a directory, and asks for the project's own entries instead, by path,
	// whichever run wrote them, with nothing of what a run's view adds to an entry.
	Project string

	// Shared adds entries of the project and of everybody that the run has no view of, behind
	// the others and by path: resolved, archived, without a writer and of version 0. None is of the audit.
	Shared bool

	// Path is the path of the only entry that is asked for.
	Path string

	// Paths are those of the only entries that are asked for, as they are stored; nil is all.
	Paths []string

	// Pattern is what paths must match (sdk/match; log://turn_3/** is one turn); empty
	// is all. A path is found by its own text, whatever it holds.
	Pattern string

	// Bodies are the schemes whose bodies are read, of entries that the run has a view of; nil is all. The names
	// are the caller's own, never somebody's text.
	Bodies []string

	// Longest is how much of a body is kept, in bytes: of a longer one its beginning, with the rest counted in Left. 0 is all.
	Longest int

	// Brief leaves out what may be long: bodies, which are not even read, those
	// attributes that only refer to another entry, and the hash of what still streams.
	Brief bool
}

// JournalQuery narrows a reading of the journal, which comes in the order of Seq.
type JournalQuery struct {
	After   int64     // rows behind this Seq
	Limit   int       // 0 is no limit
	Run     int64     // 0 is all runs
	Project int64     // 0 is all projects
	Since   time.Time // rows of that time or later; zero is all
	Longest int       // bytes of a body; a longer one is left out. 0 is no bound
	Kinds   []string  // only rows of these; none is all kinds
	Notes   bool      // only rows that speak of no entry, which are short
	Heads   bool      // no body, and no attribute that is named by its hash or stands elsewhere
	Newest  bool      // the newest row comes first

	// Children asks for the rows of Run and of its children and theirs, in one order. Of the rest only After, Limit,
	// Longest and Heads go with it.
	Children bool

	// Audit asks for the rows at which actions ended, plugins called tools and security
	// events were kept, without bodies. The Data of an action's row is an EntryChange
	// with all attributes that the action has, its call's too.
	Audit bool
}
