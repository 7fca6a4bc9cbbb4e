package command

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// searchNames are how models know the arguments of a search, with those of the tool that makes it.
var searchNames = map[string]string{"path": "query", "results": "count"}

// searching is search, when a plugin has a tool for it; nil without.
func searching(tools []sdk.Tool) *sdk.Tool {
	at := slices.IndexFunc(tools, func(t sdk.Tool) bool {
		return cmp.Or(t.Declared, t.Name) == sdk.SearchTool && t.Source == "" && !t.Unlisted && !t.People
	})
	if at < 0 {
		return nil
	}
	t := tools[at]
	t.Runs, t.Declared = t.Name, sdk.SearchTool
	t.Name, t.Named = sdk.ToolSearch, true
	return &t
}

// Given are the arguments of a call by the names of the tool that makes it, where the model wrote those of search; nil is
// that it did not, or wrote both.
func Given(t sdk.Tool, arguments json.RawMessage) json.RawMessage {
	if t.Name != sdk.ToolSearch {
		return nil
	}
	var given map[string]json.RawMessage
	if json.Unmarshal(arguments, &given) != nil {
		return nil // whoever validates says so
	}
	changed := false
	for name, is := range searchNames {
		value, wrote := given[name]
		if _, both := given[is]; wrote && !both {
			delete(given, name)
			given[is], changed = value, true
		}
	}
	if !changed {
		return nil
	}
	return encode(given)
}
