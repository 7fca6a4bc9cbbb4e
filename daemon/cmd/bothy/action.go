package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// action is one tool call as the journal tells it, row by row.
type action struct {
	Path    string
	Tool    string
	Turn    int
	State   sdk.State
	Outcome sdk.Outcome
	Phase   sdk.Phase
	Body    string

	Streamed map[int]string // by channel: the output that came while the action worked
	broken   bool           // a piece was folded into the body before it was read

	Arguments  json.RawMessage
	Error      string
	DurationMS int64
	Decision   sdk.Decision
	Metadata   map[string]any
	Truncated  bool
	Proposal   string // the id of what waits for an answer, or waited
	Answer     givenAnswer
}

// givenAnswer is what a person said to an action that was proposed.
type givenAnswer struct {
	Answer sdk.Answer `json:"answer"`
	By     string     `json:"by"`
	Reason string     `json:"reason"`
	Rule   string     `json:"rule"` // the id of the rule that it left
}

// text says the answer in words, empty when there is none.
func (g givenAnswer) text() string {
	word := map[sdk.Answer]string{sdk.Accept: "accepted", sdk.Reject: "rejected", sdk.Edit: "changed and accepted"}[g.Answer]
	if word == "" {
		return ""
	}
	if g.By != "" {
		word += " by " + g.By
	}
	if g.Rule != "" {
		word += ", remembered as rule " + g.Rule
	}
	return word
}

// isError reports whether this is no call but log://turn_N/error/..., where
// the engine records a warning or a failed completion.
func (a *action) isError() bool { return a.Tool == "error" }

// take takes in a piece of output: the row's body, which is gone once the
// action has ended. The body of the action has what is missing then.
func (a *action) take(row sdk.JournalRow) {
	var chunk sdk.Chunk
	if a.broken = a.broken || row.Body == nil || json.Unmarshal(row.Data, &chunk) != nil; a.broken {
		return
	}
	if a.Streamed == nil {
		a.Streamed = map[int]string{}
	}
	a.Streamed[chunk.Channel] += *row.Body
}

// unseen is what a channel printed behind what was streamed of it.
func (a *action) unseen(channel int) string {
	name := map[int]string{1: "stdout", 2: "stderr"}[channel]
	whole, split := a.Metadata[name].(string)
	if !split && len(a.Streamed) == 1 {
		whole = a.Body // a tool of one channel
	}
	rest, ok := strings.CutPrefix(whole, a.Streamed[channel])
	if !ok {
		return "" // it was cut, or is told in other words
	}
	return rest
}

// merge takes over the attributes that raw has; the rest stays.
func (a *action) merge(raw json.RawMessage) {
	var patch struct {
		Tool       string          `json:"tool"`
		Arguments  json.RawMessage `json:"arguments"`
		Error      string          `json:"error"`
		DurationMS int64           `json:"duration_ms"`
		Decision   *sdk.Decision   `json:"decision"`
		Metadata   map[string]any  `json:"metadata"`
		Truncated  bool            `json:"truncated"`
		Answer     *givenAnswer    `json:"answer"`
		Proposal   struct {
			ID string `json:"id"`
		} `json:"proposal"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &patch) != nil {
		return
	}
	if patch.Tool != "" {
		a.Tool = patch.Tool
	}
	if patch.Arguments != nil {
		a.Arguments = patch.Arguments
	}
	if patch.Error != "" {
		a.Error = patch.Error
	}
	if patch.DurationMS != 0 {
		a.DurationMS = patch.DurationMS
	}
	if patch.Decision != nil {
		a.Decision = *patch.Decision
	}
	if patch.Metadata != nil {
		a.Metadata = patch.Metadata
	}
	a.Truncated = a.Truncated || patch.Truncated
	if patch.Proposal.ID != "" {
		a.Proposal = patch.Proposal.ID
	}
	if patch.Answer != nil {
		a.Answer = *patch.Answer
	}
}

// ending says how the action ended, in a few words.
func (a *action) ending() string {
	var text string
	switch a.State {
	case sdk.StateResolved:
		text = "ok"
	case sdk.StateFailed:
		text = "failed"
		if code, ok := a.Outcome.ExitCode(); ok {
			text = fmt.Sprintf("exit status %d", code)
		} else if a.Answer.Answer == sdk.Reject {
			text = a.Answer.text()
		} else if a.Outcome == sdk.Permission {
			text = "denied"
		} else if a.Outcome != "" {
			text = "failed (" + string(a.Outcome) + ")"
		}
	case sdk.StateCancelled:
		text = "cancelled"
	case sdk.StateProposed:
		text = strings.TrimSuffix("waits for an answer to proposal "+a.Proposal, " to proposal ")
	default:
		text = "at work"
	}
	if a.DurationMS > 0 {
		text += ", " + (time.Duration(a.DurationMS) * time.Millisecond).String()
	}
	why := a.Error
	switch {
	case a.Answer.Answer == sdk.Reject:
		why = a.Answer.Reason
	case a.Outcome == sdk.Permission && a.Decision.Reason != "":
		why = a.Decision.Reason
	}
	if why != "" && a.State != sdk.StateResolved && !strings.HasPrefix(text, why) {
		text += ": " + why
	}
	return text
}

const (
	argumentsWidth = 120
	resultLines    = 8
)

// shortArguments writes a call's arguments on one line: the value alone when
// there is only one, else name=value. What is no object is shown as it is.
func shortArguments(raw json.RawMessage) string {
	names, values, ok := membersOf(raw)
	if !ok {
		return shorten(escapeLine(string(raw)), argumentsWidth)
	}
	if len(names) == 1 {
		return shorten(argument(values[0]), argumentsWidth)
	}
	parts := make([]string, len(names))
	for i := range names {
		parts[i] = escapeLine(names[i]) + "=" + shorten(argument(values[i]), argumentsWidth/2)
	}
	return shorten(strings.Join(parts, " "), argumentsWidth)
}

func argument(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return escapeLine(text)
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) == nil {
		return escapeLine(compact.String())
	}
	return escapeLine(string(raw))
}

// membersOf reads an object's members in their own order.
func membersOf(raw json.RawMessage) (names []string, values []json.RawMessage, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, nil, false
	}
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, nil, false
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, nil, false
		}
		text, _ := name.(string)
		names, values = append(names, text), append(values, value)
	}
	return names, values, true
}

// firstLines returns the first n lines of text and how many more there are.
func firstLines(text string, n int) ([]string, int) {
	text = strings.TrimRight(text, "\n")
	if text == "" {
		return nil, 0
	}
	lines := strings.Split(text, "\n")
	if len(lines) <= n {
		return lines, 0
	}
	return lines[:n], len(lines) - n
}
