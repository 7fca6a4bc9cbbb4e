package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Answered says in words what a person answered; empty when there is no answer.
func Answered(g *sdk.ActionAnswer) string {
	if g == nil {
		return ""
	}
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

// Ending says how an action ended, in a few words.
func Ending(a *sdk.Action) string {
	var text string
	switch a.State {
	case sdk.StateResolved:
		text = "ok"
	case sdk.StateFailed:
		text = "failed"
		if code, ok := a.Outcome.ExitCode(); ok {
			text = fmt.Sprintf("exit status %d", code)
		} else if a.Rejected() {
			text = Answered(a.Answer)
		} else if a.Outcome == sdk.Permission && wasAllowed(a) {
			text = "refused" // by the tool itself
		} else if a.Outcome == sdk.Permission {
			text = "denied"
		} else if a.Outcome != "" {
			text = "failed (" + string(a.Outcome) + ")"
		}
	case sdk.StateCancelled:
		text = "cancelled"
	case sdk.StateProposed:
		text = strings.TrimSuffix("waits for an answer to proposal "+a.ProposalID(), " to proposal ")
	default:
		text = "at work"
	}
	why := a.Why()
	switch {
	case a.Rejected():
		why = a.Answer.Reason
	case a.Outcome == sdk.Permission && a.Decision != nil && a.Decision.Reason != "" && !wasAllowed(a):
		why = a.Decision.Reason
	}
	if why != "" && a.State != sdk.StateResolved && !strings.HasPrefix(text, why) {
		text += ": " + why
	}
	return text
}

// wasAllowed reports whether policy let the call be made, or a person did: what
// was decided then is not why it failed.
func wasAllowed(a *sdk.Action) bool {
	return a.Decision != nil && (a.Decision.Verdict == sdk.Allow || a.Answer != nil && !a.Rejected())
}

// How many lines of a result are shown where it was not asked for whole: its beginning,
// and its end, where what matters of a test run stands.
const (
	ResultHead = 6
	ResultTail = 8
)

const argumentsWidth = 120

// Arguments writes a call's arguments on one line: first the value of the one that the
// call is about, or of the only one, then the others as name=value. What is no object is
// shown as it is.
func Arguments(raw json.RawMessage) string {
	names, values, ok := Members(raw)
	if !ok {
		return Shorten(Line(string(raw)), argumentsWidth)
	}
	if len(names) == 1 {
		return Shorten(argument(values[0]), argumentsWidth)
	}
	var parts []string
	main := slices.IndexFunc(names, func(name string) bool { return slices.Contains(mainArguments, name) })
	if main >= 0 {
		parts = append(parts, argument(values[main]))
	}
	for i := range names {
		if i != main {
			parts = append(parts, Line(names[i])+"="+Shorten(argument(values[i]), argumentsWidth/2))
		}
	}
	return Shorten(strings.Join(parts, " "), argumentsWidth)
}

// mainArguments are the names of what a call is about.
var mainArguments = []string{"command", "path", "pattern", "url", "query", "name"}

func argument(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) == nil && text != "" {
		return Line(text)
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) == nil {
		return Line(compact.String())
	}
	return Line(string(raw))
}

// Members reads an object's members in their own order.
func Members(raw json.RawMessage) (names []string, values []json.RawMessage, ok bool) {
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
