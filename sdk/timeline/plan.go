package timeline

import (
	"encoding/json"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// plan takes in what a row says of the steps of the run's plan, and reports whether it said something.
func (t *Timeline) plan(row sdk.JournalRow) bool {
	now, is := sdk.PlanStepOf(sdk.Entry{Path: row.Path})
	if !is {
		return false
	}
	at := slices.IndexFunc(t.Plan, func(s sdk.PlanStep) bool { return s.Number >= now.Number })
	if at < 0 {
		at = len(t.Plan)
	}
	there := at < len(t.Plan) && t.Plan[at].Number == now.Number
	switch row.Kind {
	case sdk.KindEntryRemoved:
		if there {
			t.Plan = slices.Delete(t.Plan, at, at+1)
		}
		return there
	case sdk.KindEntrySet:
		if !there {
			t.Plan = slices.Insert(t.Plan, at, now)
		}
		step(&t.Plan[at], row)
		return true
	}
	return false
}

// begins takes in a step that a fork has of its parent: of those rows that change nothing, only such say how far a step is.
func (t *Timeline) begins(row sdk.JournalRow) bool {
	var c sdk.EntryChange
	return json.Unmarshal(row.Data, &c) == nil && len(c.Attributes) > 0 && t.plan(row)
}

// step takes over what a row changed of a step.
func step(s *sdk.PlanStep, row sdk.JournalRow) {
	if row.Body != nil {
		s.Text = *row.Body
	}
	var change sdk.EntryChange
	var now struct {
		Status *sdk.PlanStatus `json:"status"`
		Note   json.RawMessage `json:"note"`
	}
	if json.Unmarshal(row.Data, &change) != nil || json.Unmarshal(change.Attributes, &now) != nil {
		return
	}
	if now.Status != nil && slices.Contains(sdk.PlanStatuses(), *now.Status) {
		s.Status = *now.Status
	}
	if now.Note != nil {
		s.Note = ""
		_ = json.Unmarshal(now.Note, &s.Note) // null is no note
	}
}
