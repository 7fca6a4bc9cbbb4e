package view

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// longestAddress is how much of an address a fence names, in bytes.
const longestAddress = 300

// isForeign reports whether what a model reads of a call came from outside: of a tool that reaches the network, and of get
// where it read what such a tool had brought.
func isForeign(a *sdk.Action) bool {
	if a.Plugin != sdk.OwnPlugin {
		return a.OpenWorld
	}
	foreign, _ := a.Metadata[sdk.MetadataForeign].(bool)
	return foreign
}

// fence is what came from outside as a model reads it. The same action has the same fence whenever it is rendered.
func fence(key string, e *sdk.Entry, a *sdk.Action, text string) string {
	from := toolName(a.Tool)
	if address := addressIn(a.ExactArguments()); address != "" {
		from += " " + address
	}
	return sdk.Fence(sdk.FenceMark(key, e.Path), from, e.Created, text)
}

// addressIn is the first text among arguments that is an address of the web or an entry, in a line; empty where none is.
func addressIn(arguments json.RawMessage) string {
	var all map[string]any
	if json.Unmarshal(arguments, &all) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if text, _ := all[name].(string); strings.Contains(text, "://") {
			return sdk.Head(strings.Join(strings.Fields(unhide(text)), " "), longestAddress)
		}
	}
	return ""
}
