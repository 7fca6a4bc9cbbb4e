package sandbox

// Class says what becomes of a change that a command made in its view.
type Class int

// The classes, the strictest last: of a folder that is new with all that lies in
// it, the strictest counts.
const (
	// Free changes are applied to the project when the command has ended.
	Free Class = iota
	// Dropped changes are not applied, and nobody is told: nobody misses them.
	Dropped
	// Asked changes are held until a person has agreed to them.
	Asked
	// Refused changes are not applied; a copy is kept.
	Refused
)

// Node is what lies at a path. The zero value is nothing.
type Node struct {
	// Kind is "file", "directory", "link", or "other" for a socket, a FIFO or a
	// device; empty is nothing.
	Kind string `json:"kind,omitempty"`
	// Mode is the permission bits.
	Mode uint32 `json:"mode,omitempty"`
	Size int64  `json:"size,omitempty"`
	// Target is where a link leads.
	Target string `json:"target,omitempty"`
}

// The kinds of a [Node].
const (
	NodeFile      = "file"
	NodeDirectory = "directory"
	NodeLink      = "link"
	NodeOther     = "other"
)

// Change is one path of a project that a command made something else of.
type Change struct {
	// Path is relative to the project, clean, with slashes.
	Path    string `json:"path"`
	Was, Is Node
	// Whole says of a folder that it is new, or took the place of what was there:
	// all that lies in it is the command's.
	Whole bool `json:"whole,omitempty"`
	// Old is where on the host lies what was at the path, when that was a file,
	// a link or a folder and is no longer there. It stays until [Result.Release].
	Old string `json:"old,omitempty"`
	// Now is where on the host lies what the path had become, when a later change of
	// the same result has replaced that; empty when it is in the project.
	Now string `json:"-"`
	// Bytes is how much of what the project held goes: of a file that is replaced or
	// removed its size, of a folder the sizes of all files in it.
	Bytes int64 `json:"bytes,omitempty"`
	// Busy says of a file that is replaced or removed that a process of the machine
	// has it open to write. It is known to a [Judge] alone.
	Busy bool `json:"-"`
}

// Ruling is what a [Judge] says of one change.
type Ruling struct {
	Class Class `json:"class"`
	// Reason is a clause for people; empty of a free change.
	Reason string `json:"reason,omitempty"`
	// Spare says that nobody misses the change where somebody else changed the path meanwhile: it is dropped then, and
	// no conflict.
	Spare bool `json:"spare,omitempty"`
}

// Judge rules on what a command changed in its view of a project.
type Judge interface {
	// Rule answers one ruling for each change, in their order. Parents come
	// before what lies in them. Writes are those of the command's [RunSpec], and run is its ID.
	Rule(run, project string, writes []string, changes []Change, read Readers) []Ruling
}

// Readers read files of a project as a command left them, and as they were before
// it: no more than most bytes, else that is an error.
type Readers struct {
	After, Before func(path string, most int) ([]byte, error)
}

// Held is a change that waits for a person's answer; see [Manager.Apply].
type Held struct {
	Change
	Reason string `json:"reason"`
	// Digest is of what the path has become: an answer is bound to it.
	Digest string `json:"digest"`
	// New is where on the host lies what the path has become; see [Manager.Waiting].
	New string `json:"-"`
}

// Conflict is a change that was not applied, since the person changed the path
// while the command ran, or since the system does not allow it.
type Conflict struct {
	Path string `json:"path"`
	// Reason is the system's, such as "permission denied"; empty where the person
	// changed the path.
	Reason string `json:"reason,omitempty"`
	// Kept is where on the host the command's version lies.
	Kept string `json:"kept,omitempty"`
}
