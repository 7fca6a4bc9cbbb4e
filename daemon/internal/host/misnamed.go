package host

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

// misnamedArguments says which arguments have another name here, or "". It is asked about
// arguments that the tool's schema refuses.
func (o *offered) misnamedArguments(arguments json.RawMessage) string {
	var declared struct {
		Properties map[string]json.RawMessage `json:"properties"`
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(o.Parameters, &declared) != nil || json.Unmarshal(arguments, &given) != nil {
		return ""
	}
	var told []string
	for name := range given {
		if _, own := declared.Properties[name]; own {
			continue
		}
		for _, here := range argumentsElsewhere[strings.ToLower(strings.ReplaceAll(name, "_", ""))] {
			_, has := declared.Properties[here]
			if _, also := given[here]; has && !also {
				told = append(told, name+" is "+here)
				break
			}
		}
	}
	slices.Sort(told)
	return strings.Join(told, ", ")
}

// refusal is the error of arguments that the tool's schema refuses.
func (o *offered) refusal(arguments json.RawMessage, err error) error {
	if names := o.misnamedArguments(arguments); names != "" {
		return sdk.Errorf(sdk.Misnamed, "arguments of %s have other names here: %s. This call was not made: make it with those names (%w)", o.Name, names, err)
	}
	return sdk.Errorf(sdk.Validation, "the arguments of %s are refused: %w", o.Name, err)
}
