package config

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/hashicorp/hcl/v2"
)

// ChangeKind says what became of a block.
type ChangeKind string

// What can become of a block. Moved is that of a type of blocks whose order counts and is another one.
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

// Diff is what changed from one configuration to the next, block by block: first the blocks without a
// label, then the labelled ones, type by type. Comments, layout and lines are no change. An undecoded
// body changed when what it came to at Load is another, so that both must have come from Load.
func Diff(was, now *Config) []Change {
	changes := diffSettings(was, now)
	before, after := was.blocks(), now.blocks()
	for key, became := range differences(before, after, reflect.DeepEqual) {
		kind, label, _ := strings.Cut(key, " ")
		changes = append(changes, Change{Block: kind, Label: label, Kind: became})
	}
	for _, kind := range []string{"plugin", "provider"} {
		if !slices.Equal(order(kind, was, after), order(kind, now, before)) {
			changes = append(changes, Change{Block: kind, Kind: Moved})
		}
	}
	return changes
}

// differences are the names that two maps do not have alike, sorted, with what became of each.
func differences[T any](was, now map[string]T, same func(a, b T) bool) iter.Seq2[string, ChangeKind] {
	both := map[string]T{}
	maps.Copy(both, was)
	maps.Copy(both, now)
	return func(yield func(string, ChangeKind) bool) {
		for _, name := range slices.Sorted(maps.Keys(both)) {
			before, had := was[name]
			after, has := now[name]
			became := Changed
			if !had {
				became = Added
			} else if !has {
				became = Removed
			}
			if !(had && has && same(before, after)) && !yield(name, became) {
				return
			}
		}
	}
}

// lists are the blocks whose order counts, by type.
func (c *Config) lists() map[string][]Plugin {
	return map[string][]Plugin{"plugin": c.Plugins, "provider": c.Providers}
}

// order are the labels of a type that another configuration has too.
func order(kind string, c *Config, other map[string]any) (labels []string) {
	for _, p := range c.lists()[kind] {
		if other[kind+" "+p.Label] != nil {
			labels = append(labels, p.Label)
		}
	}
	return labels
}

// blocks are the labelled blocks by type and label, with all of each that counts.
func (c *Config) blocks() map[string]any {
	all := map[string]any{}
	for kind, list := range c.lists() {
		for _, p := range list {
			var locked map[string]string
			if p.Locked != nil {
				locked = p.Locked.Facts()
			}
			all[kind+" "+p.Label] = []any{p.Digest, p.Enabled, p.OnUse, p.Model, p.Price, locked}
		}
	}
	for _, m := range c.Models {
		all["model "+m.Alias] = m
	}
	for name, a := range c.Agents {
		all["agent "+name] = a
	}
	for _, r := range c.Rules {
		r.Source = ""
		all["rule "+r.Name] = r
	}
	for id, p := range c.People {
		all["person "+id] = p
	}
	for _, p := range c.Sandbox.Projects {
		all["project "+p.Root] = p.Set
	}
	for name, b := range c.Skills.Blocks {
		all["skill "+name] = b.Enabled
	}
	return all
}

func diffSettings(was, now *Config) (changes []Change) {
	for i, v := range now.Values {
		if i < len(was.Values) && was.Values[i].text == v.text {
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

// Ran is the configuration that a daemon was started with, after it took up another: its
// plugins are those that go on, in their order, and behind them those that came.
func Ran(began, now *Config) *Config {
	ran := *began
	ran.Plugins = slices.DeleteFunc(slices.Clone(began.Plugins), func(p Plugin) bool { return !labelled(now.Plugins, p.Label) })
	ran.Plugins = append(ran.Plugins, slices.DeleteFunc(slices.Clone(now.Plugins), func(p Plugin) bool { return labelled(began.Plugins, p.Label) })...)
	return &ran
}

// NeedsStart warns of what a daemon that was started with one configuration can
// take from another only at its next start, where that stands.
func NeedsStart(began, now *Config) (out Diagnostics) {
	waits := func(what, detail string, at hcl.Range) {
		d := Diagnostic{Severity: "warning", Summary: what + " takes effect at the next start", Detail: detail + " `bothy stop` ends it, and the next call of bothy starts it anew."}
		if at.Filename != "" {
			place(&d, at, now.Files)
		}
		out = append(out, d)
	}
	for _, c := range Diff(began, now) {
		if c.Block == "plugin" && c.Kind == Moved {
			waits("The order of the plugin blocks", "It decides which of two tools of one name has the bare name.", hcl.Range{})
		}
		for _, name := range c.Settings {
			if s := findSetting(c.Block, name); s.tag.Get("start") != "" {
				goesOn := cmp.Or(strings.TrimSpace(began.Values[s.at].Value), "its default")
				waits(s.key(), fmt.Sprintf("The daemon goes on with %s.", goesOn), now.Values[s.at].place)
			}
		}
	}
	return out
}

// digest sums up what a plugin's process is given by its block, however and wherever that is written. What
// env(), file() and secret() came to is part of it: a secret counts by its name and a sum of what it is
// now, or as none. Label, enabled, on_use and model are not: they concern the daemon alone.
func (l *loader) digest(p Plugin) string {
	attrs, wrong := p.Body.JustAttributes()
	p.Label, p.Enabled, p.OnUse, p.Model, p.Body, p.Range = "", false, false, "", nil, hcl.Range{}
	sum := sha256.New()
	_ = json.NewEncoder(sum).Encode(p) // of no type that cannot be encoded
	key := func(name string) (string, error) {
		value, err := l.src.Keys.Find(name)
		if err != nil {
			err = fmt.Errorf("%s is not set", name) // whatever the reason is today: it is told when it is used
		}
		return fmt.Sprintf("%s %x", name, sha256.Sum256([]byte(value))), err
	}
	for _, name := range p.Secrets {
		text, _ := key(name) // none is a value here
		fmt.Fprintln(sum, text)
	}
	if p.Login != "" {
		text, _ := l.src.Keys.Find(p.Login) // none is a value here
		login, _ := sdk.ParseLogin(text)
		fmt.Fprintln(sum, "login", login.ID) // its tokens change while it goes on
	}
	eval := withSecret(l.cfg.Context, key)
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		v, diags := attrs[name].Expr.Value(eval)
		fmt.Fprintf(sum, "%s %#v\n", name, v)
		wrong = append(wrong, diags...)
	}
	for _, d := range wrong { // what is no attribute counts as well: mending it is a change
		fmt.Fprintln(sum, d.Summary, d.Detail)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}
