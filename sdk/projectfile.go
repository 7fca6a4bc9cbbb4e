package sdk

import (
	"encoding/json"
	"time"
)

// FileFacts is what the entry of a file says of it: its attributes.
type FileFacts struct {
	Size int64     `json:"size"` // in bytes
	Time time.Time `json:"time"` // of its last change, as the disk says
	// SHA256 is that of its contents, in hex. It is empty where they could not be read, or are more than
	// is read for that.
	SHA256 string `json:"sha256,omitempty"`
	Tokens int    `json:"tokens"` // of its text, estimated: its characters divided by four. What is no text has none
}

// Same reports whether the facts are those of the same contents, changed at the same time.
func (f FileFacts) Same(o FileFacts) bool {
	return f.Size == o.Size && f.SHA256 == o.SHA256 && f.Tokens == o.Tokens && f.Time.Equal(o.Time)
}

// Patch is the facts as a merge patch of attributes, which leaves nothing of others behind.
func (f FileFacts) Patch() json.RawMessage {
	all := map[string]any{"size": f.Size, "time": f.Time.UTC().Format(time.RFC3339Nano), "tokens": f.Tokens, "sha256": nil}
	if f.SHA256 != "" {
		all["sha256"] = f.SHA256
	}
	text, err := json.Marshal(all)
	if err != nil {
		return json.RawMessage("{}") // numbers and texts can be written
	}
	return text
}

// ProjectFile is the entry of a file, as its project has it.
type ProjectFile struct {
	Path string `json:"path"` // relative to the project
	FileFacts
	InSight bool `json:"in_sight,omitempty"` // some run has its text in sight
}

// FileWrite is what becomes of the entry of a file.
type FileWrite struct {
	Path  string
	Facts *FileFacts // nil: there is no such file any more
	Text  *string    // its body now; kept where a run has it in sight
}

// Scanned is what a look at the files of a project came to.
type Scanned struct {
	Files   int  `json:"files"`             // that are entries
	Changed int  `json:"changed"`           // entries that were made or are others now
	Removed int  `json:"removed"`           // entries whose files went
	Left    int  `json:"left,omitempty"`    // files whose names cannot be those of entries
	Partial bool `json:"partial,omitempty"` // there is more than is looked at
}

// Constraint says what a project makes of some of its files.
type Constraint string

// The constraints (docs/entries.md, Files).
const (
	ConstraintAdd      Constraint = "add"      // they are entries, also where git ignores them
	ConstraintReadOnly Constraint = "readonly" // likewise, and no run writes them
	ConstraintIgnore   Constraint = "ignore"   // they are no entries
)

// FileConstraint is a constraint of the files that a pattern fits, and of all in the folders that it fits.
// Of those that fit a file the one that was set last counts.
type FileConstraint struct {
	Pattern    string     `json:"pattern"`
	Constraint Constraint `json:"constraint"`
	Created    time.Time  `json:"created"`
}

// ManifestPath is where a run has the list of the project's files as they were at its first prompt.
const ManifestPath = "log://turn_0/repo/manifest"
