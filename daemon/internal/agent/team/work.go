package team

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/sdk"
)

// Report is what an assignment came to.
type Report struct {
	Ended bool
	Done  bool   // it came to a result
	Text  string // that, or why there is none
}

// mostContext are the bytes that an assignment gets of all reports before it; mostAround those that go with each of them.
const (
	mostContext = 128 << 10
	mostAround  = 1 << 10
)

// Next are the arguments of the calls that give out what is next, when the first assignments were given out and came
// to reports; none when all were.
func (p Plan) Next(reports []Report) (calls []json.RawMessage) {
	if len(reports) >= len(p.Assignments) {
		return nil
	}
	next := p.Assignments[len(reports):]
	if p.Mode == sdk.TeamSequential {
		next = next[:1]
	}
	for _, x := range next {
		task := x.Task
		if p.Mode == sdk.TeamSequential {
			room := delegate.LongestText - len(task.Task) - len(task.Context) - mostAround*len(reports)
			task.Context = strings.TrimSpace(task.Context + p.before(reports, min(mostContext, room)))
		}
		arguments := map[string]any{"agent": task.Agent, "task": task.Task}
		if task.Context != "" {
			arguments["context"] = task.Context
		}
		if task.Writes != nil {
			arguments["writes"] = task.Writes
		}
		text, _ := json.Marshal(arguments) // of texts, which cannot fail
		calls = append(calls, text)
	}
	return calls
}

// before is what the assignments that went before came to, for one that follows and has room for so many bytes.
func (p Plan) before(reports []Report, room int) string {
	if room < 0 {
		return ""
	}
	var b strings.Builder
	for i, r := range reports {
		what := "came to"
		if !r.Done {
			what = "came to no result"
		}
		text := r.Text
		if most := room / len(reports); len(text) > most {
			text = strings.ToValidUTF8(text[:most], "") + "\n[the rest is left out]"
		}
		fmt.Fprintf(&b, "\n\n%s, before you, was asked: %s\nIt %s:\n%s", p.Assignments[i].Agent, sdk.Excerpt(p.Assignments[i].Task.Task), what, text)
	}
	return b.String()
}

// Steps are the assignments as steps of the run's plan, when the first ones were given out and came to reports.
func (p Plan) Steps(reports []Report) []sdk.PlanStep {
	steps := make([]sdk.PlanStep, len(p.Assignments))
	working := len(p.Next(reports))
	for i, x := range p.Assignments {
		s := sdk.PlanStep{Number: i + 1, Text: x.Agent + ": " + strings.TrimSpace(x.Task.Task), Status: sdk.PlanOpen}
		switch {
		case i >= len(reports)+working:
		case i >= len(reports), !reports[i].Ended:
			s.Status = sdk.PlanDoing
		default:
			mark := Mark(s.Number, reports[i])
			s.Status, s.Note = mark.Status, mark.Note
		}
		steps[i] = s
	}
	return steps
}

// Mark is the step of a task that has ended, without its text.
func Mark(number int, r Report) sdk.PlanStep {
	if r.Done {
		return sdk.PlanStep{Number: number, Status: sdk.PlanDone}
	}
	return sdk.PlanStep{Number: number, Status: sdk.PlanDropped, Note: sdk.Excerpt(r.Text)}
}

// Synthesis is what the model is told when all assignments have ended.
const Synthesis = "Everybody of the team has ended their work; what each came to stands above. Put it together now, so that it answers the prompt. Say what came to no result, and claim nothing that nobody did."
