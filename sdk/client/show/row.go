package show

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Row says what a row of the journal tells: on its line of the journal, and
// what it notes also where its run is followed or shown. A note that this version
// does not know is told by its name with its message, or else with its data. The text is
// harmless; that of a note may have several lines.
func Row(row sdk.JournalRow) string { return Text(rowText(row)) }

func rowText(row sdk.JournalRow) string {
	switch row.Kind {
	case sdk.KindEntrySet:
		return row.Path + setText(row)
	case sdk.KindEntryRemoved:
		return row.Path
	case sdk.KindEntryChunk:
		return row.Path + chunkText(row)
	}
	var d rowData
	data, _ := sdk.FromOldForm(row.Data)
	readable := len(data) == 0 || json.Unmarshal(data, &d) == nil
	name := ""
	if rest, note := strings.CutPrefix(row.Kind, sdk.KindNote); note {
		name = strings.TrimPrefix(rest, ".")
	}
	tell, known := rowTexts[row.Kind]
	switch {
	case known && readable:
		return tell(row, d)
	case readable && d.Message != "":
		return strings.TrimPrefix(name+": "+d.Message, ": ")
	default:
		return strings.TrimSpace(name + " " + string(row.Data)) // of a newer daemon
	}
}

// rowData is what the data of rows without an entry may have.
type rowData struct {
	Root, Alias, Agent, Model, Reason, Stop, Finish string

	From, To json.RawMessage // a status or a name
	Parent   int64
	Turns    int
	Sequence int
	Status   int
	ReadOnly bool `json:"read_only"`
	Usage    *sdk.Usage
	Duration int64 `json:"duration_ms"`

	// Of notes.
	Message, Because, Plugin, Tool, Error, Method string

	Run json.RawMessage // an alias

	Attempt, Before, After      int
	Answers, Prompts, Shortened int
	Wait                        int64 `json:"wait_ms"`
}

var rowTexts = map[string]func(sdk.JournalRow, rowData) string{
	sdk.KindProjectCreated: func(_ sdk.JournalRow, d rowData) string { return d.Root },
	sdk.KindRunCreated: func(_ sdk.JournalRow, d rowData) string {
		text := fmt.Sprintf("agent %s, model %s", d.Agent, d.Model)
		if d.Parent != 0 {
			text += fmt.Sprintf(", forked from run %d after turn %d", d.Parent, d.Turns)
		}
		return text
	},
	sdk.KindRunStatus:     func(_ sdk.JournalRow, d rowData) string { return statusText(d.From) + " → " + statusText(d.To) },
	sdk.KindRunRenamed:    func(_ sdk.JournalRow, d rowData) string { return statusText(d.From) + " → " + statusText(d.To) },
	sdk.KindRunConfigured: func(row sdk.JournalRow, _ rowData) string { return configured(row.Data) },
	sdk.KindRunReset:      func(sdk.JournalRow, rowData) string { return "its sandbox began anew" },
	sdk.KindRunExpired:    func(sdk.JournalRow, rowData) string { return "it rested; its container was dropped" },
	sdk.KindRunRested: func(row sdk.JournalRow, _ rowData) string {
		var rest sdk.Rest
		_ = json.Unmarshal(row.Data, &rest) // what is missing stays empty
		return fmt.Sprintf("prompts %d to %d, %s", rest.From, rest.To, rest.Why)
	},
	sdk.KindRestHeard:  func(_ sdk.JournalRow, d rowData) string { return d.Plugin },
	sdk.KindRunDeleted: func(_ sdk.JournalRow, d rowData) string { return d.Reason },
	sdk.KindLoopQueued: func(_ sdk.JournalRow, d rowData) string {
		return fmt.Sprintf("%s %d, model %s", sdk.AskOrAct(d.ReadOnly), d.Sequence, d.Model)
	},
	sdk.KindLoopStarted: func(_ sdk.JournalRow, d rowData) string { return fmt.Sprintf("prompt %d", d.Sequence) },
	sdk.KindLoopEnded: func(_ sdk.JournalRow, d rowData) string {
		return Ended(sdk.LoopEnd{Status: d.Status, Stop: d.Stop}) + ": " + d.Reason
	},
	sdk.KindTurnOpened: func(row sdk.JournalRow, d rowData) string {
		return strings.TrimSuffix(fmt.Sprintf("turn %d, %s", row.Turn, d.Model), ", ")
	},
	sdk.KindTurnClosed: func(row sdk.JournalRow, d rowData) string {
		text := fmt.Sprintf("turn %d, %s", row.Turn, Brief(time.Duration(d.Duration)*time.Millisecond))
		if d.Usage != nil {
			if used := Used(*d.Usage); used != "" {
				text += ", " + used
			}
		}
		return text
	},
	sdk.KindNoteRetry: func(_ sdk.JournalRow, d rowData) string {
		return fmt.Sprintf("asks again after %s (attempt %d): %s", time.Duration(d.Wait)*time.Millisecond, d.Attempt, d.Message)
	},
	sdk.KindNoteFallback: func(_ sdk.JournalRow, d rowData) string { return d.Message },
	sdk.KindNotePruned:   func(_ sdk.JournalRow, d rowData) string { return pruned(d) },
	sdk.KindNoteProgress: func(_ sdk.JournalRow, d rowData) string { return d.Message },
	sdk.KindNoteCall: func(_ sdk.JournalRow, d rowData) string {
		return fmt.Sprintf("the plugin %s called %s", d.Plugin, d.Tool)
	},
	sdk.KindNoteRun: func(_ sdk.JournalRow, d rowData) string {
		return fmt.Sprintf("the plugin %s did %s to the run %s", d.Plugin, d.Method, statusText(d.Run))
	},
	sdk.KindNoteCompletion: func(_ sdk.JournalRow, d rowData) string {
		return strings.TrimSuffix(fmt.Sprintf("the plugin %s asked %s: %s", d.Plugin, d.Model, d.Error), ": ")
	},
}

// pruned says what was left out of a prompt.
func pruned(d rowData) string {
	var what []string
	if d.Answers > 0 {
		what = append(what, Plural(d.Answers, "earlier answer")+" with their calls")
	}
	if d.Prompts > 0 {
		what = append(what, Plural(d.Prompts, "earlier prompt"))
	}
	text := "left out " + strings.Join(what, " and ")
	if len(what) == 0 {
		text = "dropped no whole message"
	}
	if d.Shortened > 0 {
		text += ", shortened " + Plural(d.Shortened, "result")
	}
	text += fmt.Sprintf(": %d tokens became %d", d.Before, d.After)
	if d.Because != "" {
		text += " (" + d.Because + ")"
	}
	return text
}

// statusText says one side of a change: a status in words, or a name.
func statusText(raw json.RawMessage) string {
	var status int
	if json.Unmarshal(raw, &status) == nil {
		return Status(status)
	}
	var name string
	if json.Unmarshal(raw, &name) == nil {
		return name
	}
	return string(raw)
}

// setText says what an entry became, with as much of its body as fits.
func setText(row sdk.JournalRow) string {
	var c sdk.EntryChange
	if json.Unmarshal(row.Data, &c) != nil {
		return ""
	}
	var words []string
	switch {
	case c.State == sdk.StateProposed:
		words = append(words, string(c.State))
	case c.Phase != "" && c.Phase != sdk.PhaseEnded:
		words = append(words, string(c.Phase))
	case c.State != sdk.StateResolved:
		words = append(words, string(c.State))
	}
	if c.Outcome != "" {
		words = append(words, string(c.Outcome))
	}
	if c.Visibility != sdk.Visible && c.Visibility != "" {
		words = append(words, string(c.Visibility))
	}
	text := ""
	if len(words) > 0 {
		text = " (" + strings.Join(words, ", ") + ")"
	}
	return strings.TrimSuffix(text+" "+bodyText(row), " ")
}

func chunkText(row sdk.JournalRow) string {
	var chunk sdk.Chunk
	if json.Unmarshal(row.Data, &chunk) != nil || row.Body == nil {
		return ""
	}
	return fmt.Sprintf(" (channel %d) %s", chunk.Channel, bodyText(row))
}

// bodyText is the begin of a row's text on one line, in whole characters.
func bodyText(row sdk.JournalRow) string {
	if row.Body == nil {
		return ""
	}
	return Shorten(OneLine(strings.ToValidUTF8((*row.Body)[:min(len(*row.Body), 400)], "")), 120)
}
