package config

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// ChangeKind says what became of a block.
type ChangeKind string

// What can become of a block. Moved is that of a type of blocks whose order
// counts and is another one.
const (
	Added   ChangeKind = "added"
	Changed ChangeKind = "changed"
	Removed ChangeKind = "removed"
	Moved   ChangeKind = "moved"
)

// Change is one block that is not the same in two configurations.
type Change struct {
	Block    string // its type
	Label    string // empty for a block without one, and for Moved
	Kind     ChangeKind
	Settings []string // of a block without a label: what is another
}

// String is the change in a line, for people.
func (c Change) String() string {
	switch {
	case c.Kind == Moved:
		return "the order of the " + c.Block + " blocks"
	case c.Label != "":
		return c.Block + " " + c.Label + " " + string(c.Kind)
	default:
		return c.Block + " " + string(c.Kind) + " (" + strings.Join(c.Settings, ", ") + ")"
	}
}

// Diff is what changed from one configuration to the next, block by block:
// first the blocks without a label, then the labelled ones, type by type.
// Comments, layout and lines are no change. An undecoded body changed when what
// it came to at Load is another, so that both must have come from Load.
func Diff(was, now *Config) []Change {
	changes := diffSettings(was, now)
	changes = append(changes, diffLabelled("plugin", pluginLabel, samePlugin, was.Plugins, now.Plugins, true)...)
	changes = append(changes, diffLabelled("provider", pluginLabel, samePlugin, was.Providers, now.Providers, true)...)
	changes = append(changes, diffLabelled("model", func(m Model) string { return m.Alias }, sameModel, was.Models, now.Models, false)...)
	changes = append(changes, diffNamed("agent", was.Agents, now.Agents)...)
	changes = append(changes, diffLabelled("rule", func(r sdk.PolicyRule) string { return r.Name }, sameRule, was.Rules, now.Rules, false)...)
	changes = append(changes, diffLabelled("project", func(p sdk.ProjectSandbox) string { return p.Root }, sameProject, was.Sandbox.Projects, now.Sandbox.Projects, false)...)
	return append(changes, diffNamed("skill", was.Skills.Enabled, now.Skills.Enabled)...)
}

func pluginLabel(p Plugin) string { return p.Label }

func samePlugin(a, b Plugin) bool {
	return a.Digest == b.Digest && a.Enabled == b.Enabled && a.OnUse == b.OnUse && a.Model == b.Model && reflect.DeepEqual(a.Price, b.Price) && sameLocked(a.Locked, b.Locked)
}

func sameLocked(a, b *Locked) bool {
	if a == nil || b == nil {
		return a == b
	}
	return len(a.Diff(*b)) == 0
}

func sameProject(a, b sdk.ProjectSandbox) bool { return reflect.DeepEqual(a, b) }

func sameModel(a, b Model) bool {
	a.Range = b.Range
	return reflect.DeepEqual(a, b)
}

func diffSettings(was, now *Config) []Change {
	before := map[string]string{}
	for _, v := range was.Values {
		before[v.Key] = v.text
	}
	var changes []Change
	for _, v := range now.Values {
		if before[v.Key] == v.text {
			continue
		}
		block, name, _ := strings.Cut(v.Key, ".")
		if n := len(changes); n > 0 && changes[n-1].Block == block {
			changes[n-1].Settings = append(changes[n-1].Settings, name)
		} else {
			changes = append(changes, Change{Block: block, Kind: Changed, Settings: []string{name}})
		}
	}
	return changes
}

// diffNamed compares blocks of which all that counts is in a map.
func diffNamed[T any](block string, was, now map[string]T) []Change {
	itself := func(name string) string { return name }
	same := func(a, b string) bool { return reflect.DeepEqual(was[a], now[b]) }
	return diffLabelled(block, itself, same, slices.Sorted(maps.Keys(was)), slices.Sorted(maps.Keys(now)), false)
}

// diffLabelled compares the blocks of one type.
func diffLabelled[T any](block string, label func(T) string, same func(a, b T) bool, was, now []T, ordered bool) []Change {
	find := func(list []T, name string) int {
		return slices.IndexFunc(list, func(x T) bool { return label(x) == name })
	}
	var changes []Change
	var kept []int // where what stayed had its place, in the new order
	for _, x := range now {
		at := find(was, label(x))
		if at < 0 {
			changes = append(changes, Change{Block: block, Label: label(x), Kind: Added})
			continue
		}
		kept = append(kept, at)
		if !same(was[at], x) {
			changes = append(changes, Change{Block: block, Label: label(x), Kind: Changed})
		}
	}
	for _, x := range was {
		if find(now, label(x)) < 0 {
			changes = append(changes, Change{Block: block, Label: label(x), Kind: Removed})
		}
	}
	if ordered && !slices.IsSorted(kept) {
		changes = append(changes, Change{Block: block, Kind: Moved})
	}
	return changes
}
