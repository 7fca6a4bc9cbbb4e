package team

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/agent/delegate"
	"github.com/bothyd/bothy/sdk"
)

// Past is how far the loop of a team had come before a turn: the plan that its model made, false where it made none that
// can be used, and what became of the tasks that were given out. Entries are those of its run.
func Past(entries []sdk.Entry, loop int64, before int, members []string, mode sdk.TeamMode) (p Plan, planned bool, reports []Report) {
	first := before // the turn that plans has calls of its model alone
	for _, entry := range entries {
		if entry.Loop == loop && entry.Turn > 0 {
			first = min(first, entry.Turn)
		}
	}
	for _, entry := range entries {
		if entry.Loop != loop || entry.Turn >= before || entry.Phase == sdk.PhaseNone {
			continue
		}
		x, err := sdk.ActionOf(entry)
		switch {
		case err != nil || x.Parent != "":
		case cmp.Or(x.Declared, x.Tool) == sdk.ToolCreatePlan && entry.Turn == first && x.State == sdk.StateResolved:
			more, err := Read(x.ExactArguments(), members, mode)
			switch {
			case err != nil:
			case planned:
				p = p.And(more)
			default:
				p, planned = more, true
			}
		case x.Tool == sdk.ToolDelegate && entry.Turn > first:
			reports = append(reports, Report{Ended: x.State.Ended(), Done: x.State == sdk.StateResolved, Text: entry.Body})
		}
	}
	return p, planned, reports
}

// ReadAs is a prompt with what the model reads in its place, by the entries of its run.
func ReadAs(l sdk.Loop, entries []sdk.Entry) string {
	for _, entry := range entries {
		if entry.Loop != l.ID || entry.Scheme() != "prompt" {
			continue
		}
		switch text := Meaning(entry).Text; {
		case strings.HasPrefix(text, l.Prompt):
			return text
		case text != "":
			return l.Prompt + "\n\n" + text
		}
	}
	return l.Prompt
}

// Meaning is what the entry of a prompt stands for; empty where it stands for itself.
func Meaning(prompt sdk.Entry) sdk.Meaning {
	var at struct {
		Meaning sdk.Meaning `json:"meaning"`
	}
	if json.Unmarshal(prompt.Attributes, &at) != nil {
		return sdk.Meaning{}
	}
	return at.Meaning
}

// Along is what a member reads in the place of its task, where the prompt of the team brings more along than was typed:
// whole is what the model reads of it. It is empty where the task says all.
func Along(task delegate.Task, typed, whole string) string {
	switch {
	case whole == "":
		return ""
	case task.Task == typed:
		task.Task = whole
		return task.Prompt()
	}
	return task.Prompt() + "\n\nThe prompt that your team works on, with what goes with it:\n" + whole
}
