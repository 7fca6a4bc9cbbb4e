package show

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// Editable is what a person changes of a proposal: its command line, or else all its
// arguments as indented JSON. Command reports which of both it is.
func Editable(p sdk.Proposal) (text string, command bool, err error) {
	if commandArgument(p) != "" {
		return p.Command, true, nil
	}
	var pretty bytes.Buffer
	if err := json.Indent(&pretty, []byte(Readable(p.Arguments)), "", "  "); err != nil {
		return "", false, fmt.Errorf("the arguments: %w", err)
	}
	return pretty.String(), false, nil
}

// Edited is the arguments of a proposal with a text in the place of what Editable gave. A
// text that is no JSON object, where it is to be one, is an error that says so.
func Edited(p sdk.Proposal, text string) (json.RawMessage, error) {
	name := commandArgument(p)
	var arguments map[string]json.RawMessage
	if name == "" {
		if err := json.Unmarshal([]byte(text), &arguments); err != nil {
			return nil, fmt.Errorf("the arguments must be a JSON object: %w", err)
		}
		if arguments == nil {
			return nil, fmt.Errorf("the arguments must be a JSON object, and null is none")
		}
		return json.RawMessage(text), nil
	}
	if err := json.Unmarshal(p.Arguments, &arguments); err != nil {
		return nil, fmt.Errorf("the arguments: %w", err)
	}
	command, err := json.Marshal(text)
	if err != nil {
		return nil, fmt.Errorf("the command: %w", err)
	}
	arguments[name] = command
	return json.Marshal(arguments)
}

// commandArgument is the name of the argument that holds a proposal's command line:
// command, or the only other one with that text. It is empty when none does, or when
// several others do.
func commandArgument(p sdk.Proposal) string {
	var found []string
	names, values, _ := Members(p.Arguments)
	for i, name := range names {
		var text string
		switch {
		case p.Command == "" || json.Unmarshal(values[i], &text) != nil || text != p.Command:
		case name == "command":
			return name
		default:
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}
