package timeline

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Loop is one prompt and what it caused.
type Loop struct {
	ID       int64
	Sequence int          // among the loops of the run; 0 is unknown
	Prompt   string       // empty when its row was not read
	Media    []sdk.Medium // that go with it, without their data
	Model    string
	Agent    string
	Turns    []*Turn
	Began    time.Time // of the first row after the prompt was queued; zero while it waits
	Last     time.Time // of the last row
	End      *sdk.LoopEnd

	asked sdk.Usage // what plugins asked of models
}

func (l *Loop) take(row sdk.JournalRow) {
	l.Last = row.Time
	if l.Began.IsZero() && row.Kind != sdk.KindLoopQueued && !isPrompt(row) {
		l.Began = row.Time
	}
	switch row.Kind {
	case sdk.KindLoopQueued, sdk.KindLoopStarted:
		var d struct {
			Sequence     int
			Model, Agent string
		}
		if json.Unmarshal(row.Data, &d) == nil {
			l.Sequence, l.Model, l.Agent = d.Sequence, first(d.Model, l.Model), first(d.Agent, l.Agent)
		}
	case sdk.KindLoopEnded:
		end := sdk.LoopEnd{Loop: l.ID}
		if json.Unmarshal(row.Data, &end) == nil {
			l.End = &end
		}
	case sdk.KindNoteCompletion:
		var c sdk.PluginCompletion
		if json.Unmarshal(row.Data, &c) == nil {
			l.asked.Add(c.Usage)
		}
	case sdk.KindEntrySet:
		if isPrompt(row) && row.Body != nil {
			l.Prompt = *row.Body
		}
		var change struct {
			Attributes struct{ Meaning struct{ Media []sdk.Medium } }
		}
		if isPrompt(row) && json.Unmarshal(row.Data, &change) == nil && change.Attributes.Meaning.Media != nil {
			l.Media = change.Attributes.Meaning.Media
		}
	}
}

// Actions are the actions of all turns in their order, failures without a call
// among them.
func (l *Loop) Actions() []*Action {
	var all []*Action
	for _, t := range l.Turns {
		all = append(all, t.Actions...)
	}
	return all
}

// Usage is what the loop's turns, and what plugins asked of models in them, cost
// together, as far as providers told.
func (l *Loop) Usage() sdk.Usage {
	sum := l.asked
	for _, t := range l.Turns {
		sum.Add(t.Usage)
	}
	return sum
}

// Text is the last reply of the model, when that came without calls. Partial says
// that it was cut off.
func (l *Loop) Text() (text string, partial bool) {
	for _, t := range slices.Backward(l.Turns) {
		switch {
		case t.State == "":
		case t.Called:
			return "", false
		default:
			return t.Text, t.State != sdk.StateResolved
		}
	}
	return "", false
}

// Result is what the agent handed over, by which the loop ended (sdk.ToolFinish); nil where it did not.
func (l *Loop) Result() json.RawMessage {
	if l.End == nil || l.End.Stop != sdk.StopTerminal {
		return nil
	}
	for _, a := range slices.Backward(l.Actions()) {
		if a.Finished() {
			return a.ExactArguments()
		}
	}
	return nil
}

// Answer is what the loop has to say: its result as text, the model's last text without calls, or what
// the terminal call gave. A text that was cut off is no answer.
func (l *Loop) Answer() string {
	if result := l.Result(); result != nil {
		var text bytes.Buffer
		if json.Indent(&text, result, "", "  ") == nil {
			return text.String()
		}
	}
	text, partial := l.Text()
	if text != "" && !partial {
		return text
	}
	a := l.ended()
	switch {
	case a == nil:
		return ""
	case a.Body == "" && a.EndsWork():
		return l.Turns[len(l.Turns)-1].Text
	}
	return a.Body
}

// ended is the call that ended the work, which is the last of its turn but where that was an update; nil where none did.
func (l *Loop) ended() *Action {
	if l.End == nil || l.End.Stop != sdk.StopTerminal || len(l.Turns) == 0 {
		return nil
	}
	actions := l.Turns[len(l.Turns)-1].Actions
	for _, is := range []func(*Action) bool{
		func(a *Action) bool { return a.EndsWork() },
		func(a *Action) bool { return !a.IsError() && a.Parent == "" },
	} {
		for _, a := range slices.Backward(actions) {
			if is(a) {
				return a
			}
		}
	}
	return nil
}

// Waits is the action that a person has to answer now: actions are worked on in
// their order, so that one behind it, or before it is its turn, is none. A question
// waits within the call that asks it.
func (l *Loop) Waits() *Action {
	for _, a := range l.Actions() {
		if a.Asks && a.State == sdk.StateProposed {
			return a
		}
	}
	for _, a := range l.Actions() {
		switch {
		case a.IsError() || a.State.Ended():
		case a.State == sdk.StateProposed:
			return a
		default:
			return nil
		}
	}
	return nil
}

func first(texts ...string) string {
	for _, s := range texts {
		if s != "" {
			return s
		}
	}
	return ""
}
