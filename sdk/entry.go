package sdk

import (
	"encoding/json"
	"strings"
	"time"
)

// Entry is the only unit of state (docs/entries.md): what a run knows,
// did, was told and answered. The engine reads and writes nothing else.
type Entry struct {
	Path       string          `json:"path"`
	Body       string          `json:"body"`
	Attributes json.RawMessage `json:"attributes,omitempty"` // a JSON object, or nil
	Visibility Visibility      `json:"visibility"`
	State      State           `json:"state"`
	Outcome    Outcome         `json:"outcome,omitempty"`
	Writer     Writer          `json:"writer"`
	Scope      string          `json:"scope"`           // "run:N", "project:N", "owner:NAME" or "global"
	Phase      Phase           `json:"phase,omitempty"` // actions only
	Hash       string          `json:"hash"`            // hex SHA-256 of Body
	Loop       int64           `json:"loop,omitempty"`
	Turn       int             `json:"turn"`    // the turn in which this run last wrote it
	Version    int             `json:"version"` // counts this run's writes, from 1
	Created    time.Time       `json:"created"`
	Updated    time.Time       `json:"updated"`

	// Left counts the bytes that are missing at the end of Body, of which a query asked for no more (EntryQuery.Longest).
	Left int `json:"-"`
}

// EntryThen is an entry as a run had it at some time before.
type EntryThen struct {
	Entry

	// Gone are the SHA-256, in hex, of the texts that the entry had then and that are kept nowhere any more: of its body,
	// which is empty then, and of long attributes, which are missing. An empty one is of a text that not even the journal names.
	Gone []string
}

// Status is the entry's status number.
func (e Entry) Status() int { return Status(e.State, e.Outcome) }

// Scheme is the part of the path before "://", or "file" for a bare path.
func (e Entry) Scheme() string { return SchemeOf(e.Path) }

// SchemeOf returns the scheme of a path; a bare path is a file.
func SchemeOf(path string) string {
	if i := strings.Index(path, "://"); i > 0 {
		return strings.ToLower(path[:i])
	}
	return "file"
}

// MaxPath is the longest path an entry may have, in bytes.
const MaxPath = 2048

// Category is the role that all entries of a scheme play.
type Category string

// The categories (docs/entries.md, Schemes); audit entries are never shown to a model.
const (
	CategoryData    Category = "data"
	CategoryLogging Category = "logging"
	CategoryUnknown Category = "unknown"
	CategoryPrompt  Category = "prompt"
	CategoryAudit   Category = "audit"
)

// Scheme is one row of the registry that every write is checked against.
type Scheme struct {
	Name         string   `json:"name"`
	ModelVisible bool     `json:"model_visible"`
	Category     Category `json:"category"`
	Scope        string   `json:"scope"` // "run", "project", "owner" or "global"
	WritableBy   []Writer `json:"writable_by"`
}

// Promotes reports whether an entry of this scheme is of the turn in which it was made visible (Write.Look), so that what a
// turn brought into sight can be told from what was there: data and unknowns are. What happened, and prompts, stay where they were.
func (s Scheme) Promotes() bool { return s.Category == CategoryData || s.Category == CategoryUnknown }

// Unseen reports whether entries of this scheme are kept from models: it says neither that they see them nor that they
// write them. No verb of a model finds one.
func (s Scheme) Unseen() bool { return !s.ModelVisible && !s.Admits(WriterModel) }

// Admits reports whether w may write entries of this scheme.
func (s Scheme) Admits(w Writer) bool {
	for _, x := range s.WritableBy {
		if x == w {
			return true
		}
	}
	return false
}
