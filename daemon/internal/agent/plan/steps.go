package plan

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// The bounds of what a model makes of a plan.
const (
	mostSteps   = 2 * MaxSteps // of a run, with those that were added
	longestText = 16 << 10     // bytes of one step
	longestNote = 2 << 10
)

// Pattern finds the entries of a run's steps.
const Pattern = sdk.PlanScheme + "://*"

// InRun are the steps that a plan puts into a run.
func (p Plan) InRun(r Range) []sdk.PlanStep {
	steps := make([]sdk.PlanStep, len(p.Steps))
	for i, s := range p.Steps {
		steps[i] = sdk.PlanStep{Number: i + 1, Text: s.Text(), Status: sdk.PlanOpen}
		if !r.Has(i + 1) {
			steps[i].Status = sdk.PlanNotAsked
		}
	}
	return steps
}

// Replace are the writes by which the steps of a run become others. What the run has more of is taken away.
func Replace(old, steps []sdk.PlanStep) (writes []sdk.Write) {
	for _, s := range steps {
		s.Version = 0
		writes = append(writes, Write(s))
	}
	for _, s := range old {
		if s.Number > len(steps) {
			writes = append(writes, sdk.Write{Path: sdk.PlanPath(s.Number), Remove: true, Writer: sdk.WriterSystem})
		}
	}
	return writes
}

// Write is the write of one step, which is refused with conflict where somebody else has written it meanwhile.
func Write(s sdk.PlanStep) sdk.Write {
	has := struct {
		Status sdk.PlanStatus `json:"status"`
		Note   *string        `json:"note"` // null takes the old one away
	}{Status: s.Status}
	if s.Note != "" {
		has.Note = &s.Note
	}
	attributes, err := json.Marshal(has)
	if err != nil {
		attributes = nil // these always marshal
	}
	return sdk.Write{
		Path: sdk.PlanPath(s.Number), Body: &s.Text, Attributes: attributes, Writer: sdk.WriterSystem,
		State: sdk.StateResolved, ExpectVersion: s.Version,
	}
}

// Mark is the write of how far a step is, whose text stays.
func Mark(s sdk.PlanStep) sdk.Write {
	w := Write(s)
	w.Body = nil
	return w
}

// Edit is what a call changes of one step: the number names one that is there, without one it is a new one.
type Edit struct {
	Number int            `json:"number"`
	Text   string         `json:"text"`
	Status sdk.PlanStatus `json:"status"`
	Note   string         `json:"note"`
}

// Apply makes edits, all or none. Changed are the steps that are others now, each once. A new step whose text one has
// already is that one: a call that is made again adds nothing.
func Apply(steps []sdk.PlanStep, edits []Edit) (all, changed []sdk.PlanStep, err error) {
	all = slices.Clone(steps)
	touched := map[int]bool{}
	for _, x := range edits {
		at := slices.IndexFunc(all, func(s sdk.PlanStep) bool {
			return s.Number == x.Number || x.Number == 0 && x.Text != "" && s.Text == strings.TrimSpace(x.Text) && s.Status != sdk.PlanNotAsked
		})
		if at >= 0 {
			x.Number = all[at].Number
		}
		if x.Number == 0 {
			if at, all, err = add(all, x); err != nil {
				return nil, nil, err
			}
		} else if err := x.check(all, at); err != nil {
			return nil, nil, err
		}
		s := &all[at]
		if x.Text != "" {
			s.Text = strings.TrimSpace(x.Text)
		}
		if x.Status != "" {
			s.Status = x.Status
		}
		if x.Note != "" {
			s.Note = strings.TrimSpace(x.Note)
		}
		touched[s.Number] = true
	}
	for i, s := range all {
		if touched[s.Number] && (i >= len(steps) || s != steps[i]) {
			changed = append(changed, s)
		}
	}
	return all, changed, nil
}

// add puts a new step behind the others.
func add(all []sdk.PlanStep, x Edit) (int, []sdk.PlanStep, error) {
	switch {
	case strings.TrimSpace(x.Text) == "":
		return 0, nil, sdk.Errorf(sdk.Validation, "a step without a number is a new one, and needs a text; to mark one that is there, give its number")
	case len(all) >= mostSteps:
		return 0, nil, sdk.Errorf(sdk.Validation, "the plan has %d steps, and no more are taken: reword those that are open", mostSteps)
	}
	number := 1
	if len(all) > 0 {
		number = all[len(all)-1].Number + 1
	}
	x.Number = number
	all = append(all, sdk.PlanStep{Number: number, Status: sdk.PlanOpen})
	return len(all) - 1, all, x.check(all, len(all)-1)
}

// check refuses what may not become of a step.
func (x Edit) check(all []sdk.PlanStep, at int) error {
	switch {
	case at < 0 && len(all) == 0:
		return sdk.Errorf(sdk.NotFound, "there is no step %d: the plan has none yet; leave the number out to add one", x.Number)
	case at < 0:
		return sdk.Errorf(sdk.NotFound, "there is no step %d: the plan has the steps %d to %d; leave the number out to add one", x.Number, all[0].Number, all[len(all)-1].Number)
	case all[at].Status == sdk.PlanNotAsked:
		return sdk.Errorf(sdk.Permission, "step %d is not asked for: leave it as it is", x.Number)
	case x.Status == sdk.PlanNotAsked || x.Status != "" && !slices.Contains(sdk.PlanStatuses(), x.Status):
		return sdk.Errorf(sdk.Validation, "a step can be open, doing, done or dropped, not %q", sdk.Excerpt(string(x.Status)))
	case len(x.Text) > longestText || len(x.Note) > longestNote:
		return sdk.Errorf(sdk.Validation, "the text of a step takes %d bytes and its note %d", longestText, longestNote)
	case x.Text != "" && strings.TrimSpace(x.Text) == "":
		return sdk.Errorf(sdk.Validation, "the text of step %d is empty", x.Number)
	}
	return nil
}

// Progress says how far a plan has come: a line for all, and one for each step.
func Progress(steps []sdk.PlanStep) string {
	if len(steps) == 0 {
		return "The plan has no steps."
	}
	lines := []string{sdk.PlanProgress(steps) + ":"}
	for _, s := range steps {
		lines = append(lines, s.Line())
	}
	return strings.Join(lines, "\n")
}

// Left are the writes by which no step stays in progress when work on them was stopped: it is open again. Was has them as
// they are, steps as what became of them; those that have ended already are left to the calls that ended them.
func Left(was, steps []sdk.PlanStep) (writes []sdk.Write) {
	for i, s := range steps[:min(len(steps), len(was))] {
		if s.Status == sdk.PlanDoing {
			s.Status = sdk.PlanOpen
		}
		ended := was[i].Status == sdk.PlanDone || was[i].Status == sdk.PlanDropped
		if s.Status != was[i].Status && !ended {
			s.Version = 0
			writes = append(writes, Mark(s))
		}
	}
	return writes
}
