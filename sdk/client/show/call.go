package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Answered says in words what a person answered, harmless and on one line; empty when
// there is no answer.
func Answered(g *sdk.ActionAnswer) string {
	if g == nil {
		return ""
	}
	word := map[sdk.Answer]string{sdk.Accept: "accepted", sdk.Reject: "rejected", sdk.Edit: "changed and accepted"}[g.Answer]
	if word == "" {
		return ""
	}
	if g.By != "" {
		word += " by " + Line(g.By)
	}
	if g.Rule != "" {
		word += ", remembered as rule " + Line(g.Rule)
	}
	return word
}

// Ending says how an action ended, in a few words, harmless; what a tool says of its
// failure may have several lines.
func Ending(a *sdk.Action) string {
	var text string
	if a.Asks && a.State.Ended() {
		return askedEnding(a)
	}
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
	return Text(text)
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
// shown as it is. A text that could be taken for something else, such as one with blanks
// or "true", is written as JSON, and so no two arguments look the same as long as nothing
// is cut.
func Arguments(raw json.RawMessage) string {
	names, values, ok := Members(raw)
	if !ok {
		line := Line(string(raw))
		if text, is := textOf(raw); is { // of a call that could not be read
			line = quoted(text)
		}
		return Shorten(line, argumentsWidth)
	}
	main := slices.IndexFunc(names, func(name string) bool { return slices.Contains(mainArguments, name) })
	if len(names) == 1 {
		main = 0
	}
	var parts []string
	if main >= 0 {
		parts = append(parts, mainValue(values[main]))
	}
	for i := range names {
		if i != main {
			parts = append(parts, member(names[i], Shorten(value(values[i]), argumentsWidth/2)))
		}
	}
	return Shorten(strings.Join(parts, " "), argumentsWidth)
}

// mainArguments are the names of what a call is about.
var mainArguments = []string{"command", "path", "pattern", "url", "query", "name"}

// mainValue is the value that stands first and without its name. A text may have blanks
// there, such as a command, as long as nothing in it looks like name=value.
func mainValue(raw json.RawMessage) string {
	if text, is := textOf(raw); is && text == strings.TrimSpace(text) && text == Line(text) && !misread(text) && !named.MatchString(text) {
		return text
	}
	return value(raw)
}

var (
	// named is what in a text looks like the name of an argument, or like a text in JSON.
	named     = regexp.MustCompile(`(^| )[A-Za-z_]\w*=|^"|"=`)
	plainName = regexp.MustCompile(`^[A-Za-z_]\w*$`)
)

// member is an argument with its name; a name that is none of a program's is JSON.
func member(name, value string) string {
	if !plainName.MatchString(name) {
		name = quoted(name)
	}
	return name + "=" + value
}

// value is an argument: a text as a word, all else as JSON.
func value(raw json.RawMessage) string {
	if text, is := textOf(raw); is {
		return word(text)
	}
	var compact bytes.Buffer
	if json.Compact(&compact, raw) != nil {
		return Line(string(raw))
	}
	return JSON(compact.String())
}

// textOf is an argument that is a text.
func textOf(raw json.RawMessage) (text string, is bool) {
	is = len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &text) == nil
	return text, is
}

// word is a text as a word among others: as JSON where it could be taken for several
// words, for another kind of value, or does not show as itself.
func word(text string) string {
	if text != "" && text == Line(text) && !strings.ContainsAny(text, " =\"'`") && !misread(text) {
		return text
	}
	return quoted(text)
}

// quoted is a text as JSON.
func quoted(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(text) // a text always has a JSON form
	return JSON(strings.TrimSuffix(b.String(), "\n"))
}

// misread reports whether a text reads as another kind of value.
func misread(text string) bool { return text == "" || json.Valid([]byte(text)) }

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
