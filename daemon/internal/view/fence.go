package view

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/bothyd/bothy/sdk"
)

// longestAddress is how much of an address a fence names, in bytes.
const longestAddress = 300

// fence is what came from outside as a model reads it. The same action has the same fence whenever it is rendered.
func fence(key string, e *sdk.Entry, a *sdk.Action, text string) string {
	from := toolName(a.Tool)
	if address := addressIn(a.ExactArguments()); address != "" {
		from += " " + address
	}
	return sdk.Fence(sdk.FenceMark(key, e.Path), from, e.Created, text)
}

// addressIn is the first text among arguments that begins as an address of the web or an entry does, in a line; empty where
// none does.
func addressIn(arguments json.RawMessage) string {
	var all map[string]any
	if json.Unmarshal(arguments, &all) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		text, _ := all[name].(string)
		if before, _, found := strings.Cut(text, "://"); found && !strings.ContainsFunc(before, unicode.IsSpace) {
			return sdk.Head(strings.Join(strings.Fields(unhide(text)), " "), longestAddress)
		}
	}
	return ""
}
