package main

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client/show"
)

// firstAttributes are those of an agent that people look for, in their order; the others come behind them.
var firstAttributes = []string{"description", "capabilities", "model", "mode", "without_view", "network", "tools", "mcp", "skills", "agents", "finish", "persona"}

// agentRows are the attributes of an agent with a value, each with the place that it comes from.
func agentRows(d sdk.Definition) (rows [][]string) {
	values := attributesOf(d.Agent)
	names := slices.Sorted(maps.Keys(values))
	slices.SortStableFunc(names, func(a, b string) int { return attributeRank(a) - attributeRank(b) })
	for _, name := range names {
		rows = append(rows, []string{name, attributeFrom(d, name), values[name]})
	}
	return rows
}

func attributeRank(name string) int {
	if i := slices.Index(firstAttributes, name); i >= 0 {
		return i
	}
	return len(firstAttributes)
}

// attributeFrom is where an attribute of an agent comes from.
func attributeFrom(d sdk.Definition, name string) string {
	ofConfig := d.Source == sdk.AgentOfConfig || d.Source == sdk.AgentBundled
	switch place := d.From[name]; {
	case place != "":
		return place
	case ofConfig:
		return "default"
	case name == "bound":
		return "agent default"
	case name == "mode" || name == "without_view" || name == "network" || attributesOf(sdk.Agent{})[name] != "": // it has no more than that one
		return string(d.Source) + ", agent default"
	}
	return string(d.Source)
}

// attributesOf are the attributes of an agent as texts, those of its guards among them.
func attributesOf(a sdk.Agent) map[string]string {
	text, _ := json.Marshal(a) // an agent that came over the wire is JSON
	raw := map[string]json.RawMessage{}
	_ = json.Unmarshal(text, &raw)
	guards := map[string]json.RawMessage{}
	_ = json.Unmarshal(raw["guards"], &guards)
	delete(raw, "guards")
	delete(raw, "name")
	maps.Copy(raw, guards)
	values := map[string]string{}
	for name, value := range raw {
		var one string
		var list []string
		switch {
		case string(value) == `""`:
		case json.Unmarshal(value, &one) == nil:
			values[name] = show.Shorten(show.OneLine(one), 200)
		case json.Unmarshal(value, &list) == nil:
			values[name] = cmp.Or(strings.Join(list, ", "), "none")
		default:
			values[name] = string(value)
		}
	}
	return values
}
