package sandbox

// What was done about a [Violation].
const (
	ActionRemoved  = "removed"
	ActionRestored = "restored"
	// ActionRefused: the command made it in its view, and it was not applied.
	ActionRefused = "refused"
	// ActionReported: it could not be undone; Detail says why.
	ActionReported = "reported"
)

// Violation is a change to a protected path that a command made, or that was
// made while nothing held the command back from making it.
type Violation struct {
	// Path is relative to the project.
	Path   string `json:"path"`
	Action string `json:"action"`
	// Kept is where on the host a copy of what was found lies, if there was
	// something to keep.
	Kept   string `json:"kept,omitempty"`
	Detail string `json:"detail,omitempty"`
}
