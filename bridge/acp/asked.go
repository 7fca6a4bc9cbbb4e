package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/coder/acp-go-sdk"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
)

// A plugin's question is asked in the editor as far as it can be answered by a choice: a yes, an
// address to open, or one of a few values. Elicitation in the protocol is not stable, and the library's
// has no session; so anything else says how it is answered elsewhere.

// answerChoice begins the options that are the values of the one field of a question.
const answerChoice = "choice:"

// mostChoices is how many values are offered as answers.
const mostChoices = 10

// choices are the answers that the editor can offer to a question: data by option. None is one that
// has to be typed.
func choices(q *sdk.Question) (options []acp.PermissionOption, data []json.RawMessage) {
	fields, err := q.Fields()
	switch {
	case err != nil:
		return nil, nil
	case len(fields) == 0:
		name := "Yes"
		var none json.RawMessage
		if q.URL != "" {
			name = "I will open it"
		} else if q.Schema != nil {
			none = json.RawMessage("{}")
		}
		return []acp.PermissionOption{pick(0, name)}, []json.RawMessage{none}
	case len(fields) > 1 || len(fields[0].Choices) > mostChoices || fields[0].Type == "array":
		return nil, nil
	}
	f := fields[0]
	values := f.Choices
	if f.Type == "boolean" {
		values = []sdk.Choice{{Value: "true", Title: show.FieldName(f) + ": yes"}, {Value: "false", Title: show.FieldName(f) + ": no"}}
	}
	for i, c := range values {
		value, err := f.Read(c.Value)
		if err != nil {
			return nil, nil
		}
		name := c.Title
		if name == "" {
			name = c.Value
		}
		options = append(options, pick(i, show.ExactLine(name)))
		given, err := json.Marshal(map[string]json.RawMessage{f.Name: value})
		if err != nil {
			return nil, nil
		}
		data = append(data, given)
	}
	return options, data
}

func pick(i int, name string) acp.PermissionOption {
	return acp.PermissionOption{OptionId: acp.PermissionOptionId(answerChoice + strconv.Itoa(i)), Name: name, Kind: acp.PermissionOptionKindAllowOnce}
}

// pickedData is the data of an option; false where it is none that was offered.
func pickedData(q *sdk.Question, id string) (json.RawMessage, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(id, answerChoice))
	_, data := choices(q)
	if err != nil || n < 0 || n >= len(data) {
		return nil, false
	}
	return data[n], true
}

// typed says what is asked that cannot be answered here, and how it is.
func typed(p sdk.Proposal) string {
	lines, _ := show.Question(p, 0, mostQuestion)
	return fmt.Sprintf("%s\nIt cannot be answered here: `bothy proposals answer %s` in a terminal asks for it.", fenced(strings.TrimRight(show.Draw(lines, nil), "\n")), show.Line(p.ID))
}
