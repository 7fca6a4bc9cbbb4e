package sdk

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// PlanStatus is how far a step of a plan has come.
type PlanStatus string

// What a step of a plan may be.
const (
	PlanOpen     PlanStatus = "open"
	PlanDoing    PlanStatus = "doing"
	PlanDone     PlanStatus = "done"
	PlanDropped  PlanStatus = "dropped"   // not done, for a reason that its note has
	PlanNotAsked PlanStatus = "not_asked" // the person left it out: nobody is to do it
)

// PlanStatuses are all that there are.
func PlanStatuses() []PlanStatus {
	return []PlanStatus{PlanOpen, PlanDoing, PlanDone, PlanDropped, PlanNotAsked}
}

// PlanStep is a step of a run's plan, as its entry has it: the body is the text, the attributes are the rest.
type PlanStep struct {
	Number int        `json:"number"` // from 1
	Text   string     `json:"text"`   // what is to be done; the first line says it, the others say it in full
	Status PlanStatus `json:"status"`
	Note   string     `json:"note,omitempty"` // what the model said of it

	// Version is that of the entry; 0 is a step that is not written yet.
	Version int `json:"-"`
}

// PlanPath is the path of the entry of a step.
func PlanPath(number int) string { return PlanScheme + "://" + strconv.Itoa(number) }

// PlanStepOf reads the step that an entry is; false is an entry that is none.
func PlanStepOf(e Entry) (PlanStep, bool) {
	rest, is := strings.CutPrefix(e.Path, PlanScheme+"://")
	number, err := strconv.Atoi(rest)
	if !is || err != nil || number < 1 || PlanPath(number) != e.Path {
		return PlanStep{}, false
	}
	s := PlanStep{Number: number, Text: e.Body, Version: e.Version}
	var has struct {
		Status PlanStatus `json:"status"`
		Note   string     `json:"note"`
	}
	if json.Unmarshal(e.Attributes, &has) == nil {
		s.Status, s.Note = has.Status, has.Note
	}
	if !slices.Contains(PlanStatuses(), s.Status) {
		s.Status = PlanOpen
	}
	return s, true
}

// PlanOf are the steps among entries, in their order.
func PlanOf(entries []Entry) (steps []PlanStep) {
	for _, e := range entries {
		if s, is := PlanStepOf(e); is {
			steps = append(steps, s)
		}
	}
	slices.SortFunc(steps, func(a, b PlanStep) int { return a.Number - b.Number })
	return steps
}

// Line is the step in one line, as people and models see it.
func (s PlanStep) Line() string {
	line := fmt.Sprintf("%s %d. %s", s.sign(), s.Number, Excerpt(s.Text))
	switch s.Status {
	case PlanDoing:
		line += " (in progress)"
	case PlanDropped:
		line += " (dropped)"
	case PlanNotAsked:
		line += " (not asked for)"
	}
	if s.Note != "" {
		line += ": " + Excerpt(s.Note)
	}
	return line
}

func (s PlanStep) sign() string {
	switch s.Status {
	case PlanDone:
		return "✓"
	case PlanDoing:
		return "⧗"
	case PlanDropped:
		return "✗"
	case PlanNotAsked:
		return "-"
	}
	return "○"
}

// PlanProgress says in one line how far a plan has come.
func PlanProgress(steps []PlanStep) string {
	done, all := 0, 0
	for _, s := range steps {
		if s.Status == PlanDone {
			done++
		}
		if s.Status != PlanNotAsked {
			all++
		}
	}
	return fmt.Sprintf("Completed %d/%d steps", done, all)
}
