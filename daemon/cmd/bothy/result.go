package main

import (
	"encoding/json"
	"io"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
	"github.com/bothyd/bothy/sdk/timeline"
)

// result is what `run --format json` prints, and stream-json last.
type result struct {
	Run        string          `json:"run"`
	ID         int64           `json:"id"`
	Loop       int64           `json:"loop"`
	Model      string          `json:"model"`
	Why        string          `json:"why,omitempty"`
	Status     int             `json:"status"`
	Stop       string          `json:"stop"`
	Reason     string          `json:"reason"`
	Exit       int             `json:"exit"`
	Answer     string          `json:"answer"`
	Result     json.RawMessage `json:"result,omitempty"`  // that the agent handed over
	Partial    string          `json:"partial,omitempty"` // what came of an answer that was cut off
	Turns      int             `json:"turns"`
	Usage      sdk.Usage       `json:"usage"`
	DurationMS int64           `json:"duration_ms"`
	Actions    []resultAction  `json:"actions"`
	Proposal   *sdk.Proposal   `json:"proposal,omitempty"` // that nobody answered in time
}

type resultAction struct {
	Path       string          `json:"path"`
	Tool       string          `json:"tool"`
	Turn       int             `json:"turn"`
	Arguments  json.RawMessage `json:"arguments,omitempty"`
	State      sdk.State       `json:"state"`
	Outcome    sdk.Outcome     `json:"outcome,omitempty"`
	Error      string          `json:"error,omitempty"`
	Output     string          `json:"output"`
	Metadata   map[string]any  `json:"metadata,omitempty"`
	DurationMS int64           `json:"duration_ms"`
}

// newResult is for a loop that has its end.
func newResult(accepted rpc.Accepted, s *loopState) *result {
	text, cut := s.Text()
	if !cut {
		text = ""
	}
	return &result{
		Run: accepted.Run, ID: accepted.ID, Loop: accepted.Loop, Model: accepted.Model, Why: accepted.Why,
		Status: s.End.Status, Stop: s.End.Stop, Reason: s.End.Reason, Exit: exitOf(*s.End),
		Answer: s.Answer(), Result: s.Result(), Partial: text, Turns: len(s.Turns), Usage: s.Usage(), DurationMS: s.Last.Sub(s.Began).Milliseconds(),
		Proposal: s.waiting,
		Actions: each(s.Actions(), func(a *timeline.Action) resultAction {
			return resultAction{
				Path: a.Path, Tool: a.Tool, Turn: a.Turn, Arguments: a.Arguments, State: a.State, Outcome: a.Outcome,
				Error: a.Error, Output: a.Body, Metadata: a.Metadata, DurationMS: a.Took().Milliseconds(),
			}
		}),
	}
}

// event is one line of stream-json. Type says which field is set.
type event struct {
	Type     string          `json:"type"` // accepted, row, preview, proposal, result
	Accepted *rpc.Accepted   `json:"accepted,omitempty"`
	Row      *sdk.JournalRow `json:"row,omitempty"`
	Preview  *rpc.Preview    `json:"preview,omitempty"`
	Proposal *sdk.Proposal   `json:"proposal,omitempty"`
	Result   *result         `json:"result,omitempty"`
}

// stream prints a loop as one JSON object a line.
type stream struct {
	out    io.Writer
	loop   *loopState
	failed error // the first line that could not be printed
}

func (v *stream) print(e event) {
	if v.failed == nil {
		v.failed = writeJSON(v.out, e, "")
	}
}

func (v *stream) row(row sdk.JournalRow, _ timeline.Change) { v.print(event{Type: "row", Row: &row}) }

func (v *stream) below(row sdk.JournalRow, _ []timeline.Call, _ timeline.Change) {
	v.print(event{Type: "row", Row: &row})
}

func (v *stream) preview(p rpc.Preview) {
	if p.Loop == v.loop.ID {
		v.print(event{Type: "preview", Preview: &p})
	}
}

func (v *stream) proposal(p sdk.Proposal) { v.print(event{Type: "proposal", Proposal: &p}) }

func (v *stream) lost() {}

// silent shows nothing.
type silent struct{}

func (silent) row(sdk.JournalRow, timeline.Change)                    {}
func (silent) below(sdk.JournalRow, []timeline.Call, timeline.Change) {}
func (silent) preview(rpc.Preview)                                    {}
func (silent) proposal(sdk.Proposal)                                  {}
func (silent) lost()                                                  {}
