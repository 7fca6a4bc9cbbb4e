package misnamed

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// argumentsElsewhere has names of arguments in other agents, which models have learned,
// without case and underscores, with those that mean the same, the best first. One that a tool does not have is not told.
var argumentsElsewhere = map[string][]string{
	"filepath": {"path"}, "file": {"path"}, "filename": {"path"}, "absolutepath": {"path"}, "targetfile": {"path"},
	"dirpath": {"path", "dir"}, "directory": {"path", "dir"}, "folder": {"path", "dir"}, "cwd": {"dir"}, "workdir": {"dir"}, "workingdirectory": {"dir"},
	"cmd": {"command"}, "script": {"command"}, "code": {"command", "content"}, "timeout": {"timeout_seconds"}, "timeoutms": {"timeout_seconds"},
	"oldstring": {"old_text"}, "oldstr": {"old_text"}, "search": {"old_text", "pattern"}, "newstring": {"new_text"}, "newstr": {"new_text"}, "replace": {"new_text"}, "replacement": {"new_text"},
	"contents": {"content"}, "filetext": {"content"}, "text": {"content"}, "codeedit": {"content"}, "offset": {"start_line"}, "start": {"start_line"}, "end": {"end_line"},
	"query": {"pattern"}, "regex": {"pattern"}, "include": {"glob"}, "includepattern": {"glob"}, "caseinsensitive": {"ignore_case"},
	"from": {"source"}, "src": {"source"}, "oldpath": {"source"}, "sourcepath": {"source"}, "to": {"destination"}, "dest": {"destination"}, "newpath": {"destination"},
	"destinationpath": {"destination"}, "maxresults": {"limit"}, "headlimit": {"limit"},
}

// declared are the arguments of a tool, as far as they are looked at here.
type declared struct {
	Properties map[string]json.RawMessage `json:"properties"`
	Required   []string                   `json:"required"`
	closed     bool                       // no others are taken, for sure
}

func argumentsOf(t sdk.Tool) (d declared, ok bool) {
	var all map[string]json.RawMessage
	if json.Unmarshal(t.Parameters, &all) != nil || json.Unmarshal(t.Parameters, &d) != nil {
		return d, false
	}
	d.closed = true
	for key, value := range all {
		switch key {
		case "$schema", "$id", "$defs", "definitions", "type", "title", "description", "properties", "required":
		case "additionalProperties":
			d.closed = d.closed && string(value) == "false"
		default: // it may say more of them
			d.closed = false
		}
	}
	return d, true
}

// Arguments is the answer to a call that writes an argument by the name that it has
// elsewhere, where the tool cannot take it: one that it needs is not there by its own name,
// or it takes no others than it declares. Else nil, and whoever validates has the say.
func Arguments(t sdk.Tool, arguments json.RawMessage) error {
	var given map[string]json.RawMessage
	d, ok := argumentsOf(t)
	if !ok || json.Unmarshal(arguments, &given) != nil {
		return nil
	}
	var told []string
	refused := false
	for name := range given {
		if _, own := d.Properties[name]; own {
			continue
		}
		for _, here := range argumentsElsewhere[strings.ToLower(strings.ReplaceAll(name, "_", ""))] {
			_, has := d.Properties[here]
			if _, also := given[here]; has && !also {
				told = append(told, name+" is "+here)
				refused = refused || d.closed || slices.Contains(d.Required, here)
				break
			}
		}
	}
	if !refused {
		return nil
	}
	slices.Sort(told)
	return sdk.Errorf(sdk.Misnamed, "arguments of %s have other names here: %s. This call was not made: make it with those names", t.Name, strings.Join(told, ", "))
}
