package sdk

import "encoding/json"

// Row is an entry as the view packet shows it. The parts of a packet, which are subscribers of assembly.user, write their
// sections of the rows of a turn; nobody changes rows but the view.
type Row struct {
	Path       string          `json:"path"`
	Scheme     string          `json:"scheme"`
	Category   Category        `json:"category"`
	Visibility Visibility      `json:"visibility"` // visible or summarized: what is archived is no row
	State      State           `json:"state"`
	Outcome    Outcome         `json:"outcome,omitempty"`
	Status     int             `json:"status"`
	Loop       int64           `json:"loop,omitempty"`
	Turn       int             `json:"turn"` // in which the run last wrote it
	Attributes json.RawMessage `json:"attributes,omitempty"`
	Tokens     RowTokens       `json:"tokens"`

	// Visible and Summary are its elements at the two levels. A plugin is given those of its own schemes.
	Visible Shown `json:"visible,omitzero"`
	Summary Shown `json:"summary,omitzero"`
}

// Shown is an element of a packet: an entry at a level.
type Shown struct {
	Text       string `json:"text,omitempty"`
	Characters int    `json:"characters"`
}

// RowTokens is what an entry costs in a packet as it is sent.
type RowTokens struct {
	Visible    int `json:"visible"`    // at the level visible, with its summary where that is shown beside it
	Summary    int `json:"summary"`    // at the level summarized
	Difference int `json:"difference"` // what promoting it costs, and demoting it frees: the only one that a model is told
}

// IsVisible reports whether all of it is shown.
func (r *Row) IsVisible() bool { return r.Visibility == Visible }
