package rpc

import (
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Turn is one round trip with a model as getRun tells it. It is a type of its own
// for the time alone: sdk.Turn is a payload of the plugins' protocol too, whose
// version 1 has nanoseconds there.
type Turn struct {
	ID       int64      `json:"id"`
	Run      int64      `json:"run"`
	Loop     int64      `json:"loop"`
	Sequence int        `json:"sequence"` // 1, 2, ... within the run
	Model    string     `json:"model"`
	Usage    *sdk.Usage `json:"usage,omitempty"` // nil when the provider said nothing
	Finish   string     `json:"finish,omitempty"`
	Duration sdk.Millis `json:"duration_ms"`
	Created  time.Time  `json:"created"`
	Closed   bool       `json:"closed"`
}

// TurnOf is the turn of a row.
func TurnOf(t sdk.Turn) Turn {
	return Turn{
		ID: t.ID, Run: t.Run, Loop: t.Loop, Sequence: t.Sequence, Model: t.Model, Usage: t.Usage, Finish: t.Finish,
		Duration: sdk.Millis(t.Duration), Created: t.Created, Closed: t.Closed,
	}
}
