package builtin

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// The bounds of what a model asks a person to choose from.
const (
	mostOptions = 20
	longestName = 200 // characters of one option
)

// answerField is the one thing that a model's question asks for.
const answerField = "answer"

var askUserSpec = sdk.Tool{
	ToolSpec: sdk.ToolSpec{
		Name:        sdk.ToolAskUser,
		Description: "Asks the person a question and waits for what they answer, which is the result. Ask when only they can know or decide, one question at a time; what you can find out or try yourself you need not ask.",
		Parameters: json.RawMessage(`{"type":"object","properties":{` +
			`"question":{"type":"string","minLength":1,"description":"what they are asked, in full: they may not remember what you know"},` +
			`"options":{"type":"array","items":{"type":"string","minLength":1,"maxLength":200},"minItems":2,"maxItems":20,"description":"what they choose from; without it they write what they like"}},` +
			`"required":["question"],"additionalProperties":false}`),
		Annotations: sdk.Annotations{ReadOnly: true},
	},
	Plugin: Plugin, Pinned: true, Named: true,
}

// askUserTool is ask_user, of which the engine makes a question: nothing runs.
type askUserTool struct{}

// take implements tool. It is offered to an agent that names it.
func (q askUserTool) take(_ context.Context, t sdk.TurnContext) (turnTool, error) {
	if t.Admits == nil || !t.Admits(askUserSpec) {
		return nil, nil
	}
	return q, nil
}

func (askUserTool) tool() sdk.Tool                             { return askUserSpec }
func (askUserTool) system() string                             { return "" }
func (askUserTool) once(context.Context, json.RawMessage) bool { return false }

func (askUserTool) invoke(context.Context, sdk.Invocation, sdk.Stream) (sdk.ToolResult, error) {
	return sdk.ToolResult{}, sdk.Errorf(sdk.Unavailable, "%s runs nothing: a person answers it", sdk.ToolAskUser)
}

// Question implements sdk.TurnTools.
func (turn) Question(arguments json.RawMessage) (sdk.Question, error) {
	var a struct {
		Question string      `json:"question"`
		Options  optionsList `json:"options"`
	}
	if err := sdk.ReadJSON(arguments, &a); err != nil {
		return sdk.Question{}, sdk.Errorf(sdk.Validation, "the arguments of %s cannot be read: it takes question, a text, and options, a list of texts: %w", sdk.ToolAskUser, err)
	}
	field := map[string]any{"type": "string", "title": "Answer"}
	switch {
	case a.Options == nil:
	case len(a.Options) < 2 || len(a.Options) > mostOptions:
		return sdk.Question{}, sdk.Errorf(sdk.Validation, "there are 2 to %d options to choose from, not %d; leave them out for an answer in their own words", mostOptions, len(a.Options))
	case slices.ContainsFunc(a.Options, func(o string) bool { return strings.TrimSpace(o) == "" || len([]rune(o)) > longestName }):
		return sdk.Question{}, sdk.Errorf(sdk.Validation, "an option is a text of 1 to %d characters", longestName)
	default:
		field["enum"] = a.Options
	}
	schema, err := json.Marshal(map[string]any{"type": "object", "properties": map[string]any{answerField: field}, "required": []string{answerField}})
	if err != nil {
		return sdk.Question{}, err
	}
	text, err := json.Marshal(sdk.Question{Message: a.Question, Schema: schema})
	if err != nil {
		return sdk.Question{}, err
	}
	return sdk.QuestionOf(text)
}

// optionsList are the options of a question: a list, or the text that a model writes between tags, which is such a list, or has
// one option a line, or on one line parted by semicolons.
type optionsList []string

// UnmarshalJSON implements json.Unmarshaler.
func (o *optionsList) UnmarshalJSON(raw []byte) error {
	var text string
	if json.Unmarshal(raw, &text) != nil || string(raw) == "null" {
		return json.Unmarshal(raw, (*[]string)(o))
	}
	if json.Unmarshal([]byte(text), (*[]string)(o)) == nil {
		return nil
	}
	*o = nil
	by := "\n"
	if text = strings.TrimSpace(text); !strings.Contains(text, by) {
		by = ";"
	}
	for option := range strings.SplitSeq(text, by) {
		if option = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(option), "- ")); option != "" {
			*o = append(*o, option)
		}
	}
	return nil
}
