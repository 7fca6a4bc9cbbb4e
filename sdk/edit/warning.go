package edit

// Kind says what a Warning is about; docs/edit-markers.md lists them.
type Kind string

// The kinds of warnings.
const (
	Outside    Kind = "outside"    // text outside of the regions was left out
	Reindented Kind = "reindented" // a place was found by its lines, and what takes it got their indentation
	Unchanged  Kind = "unchanged"  // the operations come to what was there before
	NoMarker   Kind = "no_marker"  // the text begins like a marker, is none, and is taken as it stands
)

// Warning is something that the model should hear beside the result, which holds.
type Warning struct {
	Kind    Kind   `json:"kind"`
	Message string `json:"message"`
}
