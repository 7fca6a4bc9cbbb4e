package sdk

import (
	"path"
	"slices"
	"strings"
)

// FileChange is one change that a tool made to a file, folder or link of the
// project, told with what it takes to take it back. A tool that changes several
// tells of each, in the order of its doing: of a folder that it deleted, what
// was in it first.
type FileChange struct {
	Path   string     `json:"path"`             // relative to the project, free of links; "." where its own folder got another mode
	From   string     `json:"from,omitempty"`   // of a move: the path it had
	Before *FileState `json:"before,omitempty"` // nil: nothing was there; of a move always nil
	After  *FileState `json:"after,omitempty"`  // nil: nothing is there any more
	// Undo makes the contents before of those after; nil when Before is no
	// file, Kept names them, or Lost says why it is missing.
	Undo *Splice `json:"undo,omitempty"`
	// Kept says that the contents before lie in the store of replaced contents
	// (package kept) instead: it is their digest, and so the same as Before.Hash.
	Kept string `json:"kept,omitempty"`
	Lost string `json:"lost,omitempty"` // why the change cannot be taken back; a clause for people
}

// FileState is how a file, folder or link is at one moment.
type FileState struct {
	Kind   string `json:"kind"`             // "file", "directory" or "link"
	Mode   uint32 `json:"mode,omitempty"`   // permission bits; none of a link
	Hash   string `json:"hash,omitempty"`   // of a file: hex SHA-256 of its contents; empty is unknown
	Target string `json:"target,omitempty"` // of a link
}

// Check says what is wrong with a change, that no tool can have made in a
// project: a path that is none or leads out of it, or members that do not go
// together.
func (c FileChange) Check() error {
	move := c.From != ""
	switch {
	case !inProject(c.Path) && !c.modeOfProject(), move && !inProject(c.From):
		return Errorf(Validation, "%.200q is no path in the project", wrongPath(c))
	case move && (c.After == nil || c.Before != nil || c.Undo != nil || c.Kept != ""):
		return Errorf(Validation, "a move to %.200q tells how it is now and nothing more", c.Path)
	case c.Before == nil && c.After == nil:
		return Errorf(Validation, "%.200q was not there before and is not there now", c.Path)
	case c.Undo != nil && (c.Undo.Offset < 0 || c.Undo.Inserted < 0):
		return Errorf(Validation, "the splice of %.200q has a length below zero", c.Path)
	case c.Kept != "" && (c.Before == nil || c.Before.Kind != "file" || c.Before.Hash != c.Kept || c.Undo != nil):
		return Errorf(Validation, "what is kept of %.200q is not what was there before", c.Path)
	}
	for _, s := range []*FileState{c.Before, c.After} {
		if s != nil && c.Lost == "" && !slices.Contains([]string{"file", "directory", "link"}, s.Kind) {
			return Errorf(Validation, "%.200q is a %.40q; there are file, directory and link", c.Path, s.Kind)
		}
	}
	return nil
}

// modeOfProject reports whether a change is one of the mode of the project's own
// folder, which is all that can be changed of it.
func (c FileChange) modeOfProject() bool {
	return c.Path == "." && c.From == "" && c.Undo == nil && c.Before != nil && c.After != nil && c.Before.Kind == "directory" && c.After.Kind == "directory"
}

func wrongPath(c FileChange) string {
	if inProject(c.Path) {
		return c.From
	}
	return c.Path
}

// inProject reports whether a path lies in the project and is not the project, and is written in the one form.
func inProject(at string) bool {
	return at != "." && at != ".." && !path.IsAbs(at) && path.Clean(at) == at && !strings.HasPrefix(at, "../") && !strings.ContainsRune(at, 0)
}

// Splice turns one text into another: Inserted bytes from Offset on give way
// to Removed. It is named for what the change did that it takes back.
type Splice struct {
	Offset   int    `json:"offset"`
	Inserted int    `json:"inserted"`
	Removed  []byte `json:"removed,omitempty"`
}

// splicedBeside is how much of a line a splice takes with it on either side.
const splicedBeside = 256

// SpliceOf returns the splice that makes before of after: what stands between
// the beginning and the end that both share, with the rest of the lines that it
// stands in, unless that is long. A secret that shares its first or last
// characters with what took its place stands whole in it, and so is known for one.
func SpliceOf(before, after string) Splice {
	most := min(len(before), len(after))
	head := 0
	for head < most && before[head] == after[head] {
		head++
	}
	tail := 0
	for tail < most-head && before[len(before)-1-tail] == after[len(after)-1-tail] {
		tail++
	}
	if removes := head < len(before)-tail; removes {
		begin, end := head, len(before)-tail
		for head > 0 && begin-head < splicedBeside && before[head-1] != '\n' {
			head--
		}
		for tail > 0 && before[end-1] != '\n' && len(before)-tail-end < splicedBeside && before[len(before)-tail] != '\n' {
			tail--
		}
	}
	return Splice{Offset: head, Inserted: len(after) - head - tail, Removed: []byte(before[head : len(before)-tail])}
}

// Apply returns the text before, given the one after; false when the splice
// does not fit into it.
func (s Splice) Apply(after string) (string, bool) {
	if s.Offset < 0 || s.Inserted < 0 || s.Inserted > len(after) || s.Offset > len(after)-s.Inserted {
		return "", false
	}
	return after[:s.Offset] + string(s.Removed) + after[s.Offset+s.Inserted:], true
}

// Difference is what a run made of one file, folder or link of its project,
// against how that was before the run first touched it.
type Difference struct {
	Path    string `json:"path"`
	From    string `json:"from,omitempty"` // moved: where it was
	Kind    string `json:"kind"`           // "file", "directory" or "link"
	Status  string `json:"status"`         // "added", "changed", "deleted" or "moved"
	Turns   []int  `json:"turns"`          // in which the run touched it
	Diff    string `json:"diff,omitempty"` // of a text file: unified, from before the run to now
	Added   int    `json:"added"`          // lines
	Removed int    `json:"removed"`        // lines
	Binary  bool   `json:"binary,omitempty"`
	Mode    string `json:"mode,omitempty"` // when that is another: "0644 to 0755"
	// Conflict says why it cannot be taken back: mostly, that something else
	// touched it since. The other members tell then only roughly what the run did.
	Conflict string `json:"conflict,omitempty"`
}
