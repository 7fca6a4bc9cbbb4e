package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// rowText says what a row of the journal tells, on one line.
func rowText(row sdk.JournalRow) string {
	switch row.Kind {
	case sdk.KindEntrySet:
		return row.Path + setText(row)
	case sdk.KindEntryRemoved:
		return row.Path
	case sdk.KindEntryChunk:
		return row.Path + chunkText(row)
	}
	if strings.HasPrefix(row.Kind, sdk.KindNote) {
		return noteText(row.Kind, row.Data)
	}
	if tell, ok := rowTexts[row.Kind]; ok {
		var d rowData
		data, _ := sdk.FromOldForm(row.Data)
		if len(data) == 0 || json.Unmarshal(data, &d) == nil {
			return tell(row, d)
		}
	}
	return string(row.Data) // of a newer daemon
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
	sdk.KindRunStatus:  func(_ sdk.JournalRow, d rowData) string { return statusText(d.From) + " → " + statusText(d.To) },
	sdk.KindRunRenamed: func(_ sdk.JournalRow, d rowData) string { return statusText(d.From) + " → " + statusText(d.To) },
	sdk.KindRunReset:   func(sdk.JournalRow, rowData) string { return "its sandbox began anew" },
	sdk.KindRunExpired: func(sdk.JournalRow, rowData) string { return "it rested; its container was dropped" },
	sdk.KindRunDeleted: func(_ sdk.JournalRow, d rowData) string { return d.Reason },
	sdk.KindLoopQueued: func(_ sdk.JournalRow, d rowData) string {
		return fmt.Sprintf("%s %d, model %s", sdk.AskOrAct(d.ReadOnly), d.Sequence, d.Model)
	},
	sdk.KindLoopStarted: func(_ sdk.JournalRow, d rowData) string { return fmt.Sprintf("prompt %d", d.Sequence) },
	sdk.KindLoopEnded: func(_ sdk.JournalRow, d rowData) string {
		return endWord(sdk.LoopEnd{Status: d.Status, Stop: d.Stop}) + ": " + d.Reason
	},
	sdk.KindTurnOpened: func(row sdk.JournalRow, d rowData) string {
		return strings.TrimSuffix(fmt.Sprintf("turn %d, %s", row.Turn, d.Model), ", ")
	},
	sdk.KindTurnClosed: func(row sdk.JournalRow, d rowData) string {
		text := fmt.Sprintf("turn %d, %s", row.Turn, brief(time.Duration(d.Duration)*time.Millisecond))
		if d.Usage != nil {
			text += ", " + tokens(*d.Usage)
		}
		return text
	},
}

// statusText says one side of a change: a status in words, or a name.
func statusText(raw json.RawMessage) string {
	var status int
	if json.Unmarshal(raw, &status) == nil {
		return statusWord(status)
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
	if row.Body != nil && strings.TrimSpace(*row.Body) != "" {
		text += " " + shorten(strings.Join(strings.Fields(first(*row.Body, 400)), " "), 120)
	}
	return text
}

func chunkText(row sdk.JournalRow) string {
	var chunk sdk.Chunk
	if json.Unmarshal(row.Data, &chunk) != nil || row.Body == nil {
		return ""
	}
	return fmt.Sprintf(" (channel %d) %s", chunk.Channel, shorten(strings.Join(strings.Fields(first(*row.Body, 400)), " "), 120))
}

// first is the begin of a long text: at most n bytes, in whole characters.
func first(text string, n int) string {
	return strings.ToValidUTF8(text[:min(len(text), n)], "")
}
