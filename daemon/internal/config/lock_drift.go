package config

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/sdk"
)

// LockChange is one thing that is not the same in two locks, or in a lock and a plugin.
type LockChange struct {
	Label string     `json:"label"` // of the block
	Kind  ChangeKind `json:"kind"`
	What  string     `json:"what,omitempty"` // empty: the whole entry
	From  string     `json:"from,omitempty"`
	To    string     `json:"to,omitempty"`
}

// String is the change in a line without its label: + for what was added, - for
// what was removed, ~ for what is another.
func (c LockChange) String() string {
	mark := map[ChangeKind]string{Added: "+ ", Removed: "- ", Changed: "~ "}[c.Kind]
	switch {
	case c.Kind != Changed || c.From == "" && c.To == "":
		return mark + c.What
	case strings.HasPrefix(c.What, "tool "):
		return mark + "schema of " + c.What + " changed"
	case strings.HasPrefix(c.What, "agent "):
		return mark + c.What + " changed"
	case c.What == "digest":
		return mark + c.What + " " + short(c.From) + " -> " + short(c.To)
	}
	return mark + c.What + " " + cmp.Or(c.From, "none") + " -> " + cmp.Or(c.To, "none")
}

// short is as much of a digest as people compare.
func short(digest string) string { return digest[:min(len(digest), 12)] }

// Changes are lines of a difference, joined for one sentence.
func Changes(list []LockChange) string {
	var out []string
	for _, c := range list {
		out = append(out, c.String())
	}
	return strings.Join(out, ", ")
}

// DiffLock is what changed from one lock to the next, by label.
func DiffLock(was, now Lock) (changes []LockChange) {
	same := func(a, b Locked) bool { return maps.Equal(a.Facts(), b.Facts()) }
	for label, became := range differences(was.Plugins, now.Plugins, same) {
		before, after := was.Plugins[label], now.Plugins[label]
		list := before.Diff(after)
		if became != Changed {
			list = []LockChange{{Kind: became, From: before.summary(), To: after.summary()}}
		}
		for _, c := range list {
			c.Label = label
			changes = append(changes, c)
		}
	}
	return changes
}

// summary is an entry in a line; empty of none.
func (l Locked) summary() string {
	if l.Digest == "" {
		return ""
	}
	text := strings.TrimSpace(l.Plugin+" "+l.Version) + ", " + short(l.Digest)
	for _, x := range []struct {
		what string
		list []string
	}{{"", l.Kinds}, {"tools ", slices.Sorted(maps.Keys(l.Tools))}, {"tools of ", l.Sources}, {"agents ", slices.Sorted(maps.Keys(l.Agents))}, {"wants ", l.Grants}} {
		if len(x.list) > 0 {
			text += ", " + x.what + strings.Join(x.list, " ")
		}
	}
	return text
}

// Diff is what changed from one entry to another, with what is new at the end.
func (l Locked) Diff(now Locked) []LockChange { return DiffFacts(l.Facts(), now.Facts()) }

// DiffFacts is Diff of what Facts says, or of more than that.
func DiffFacts(before, after map[string]string) []LockChange {
	var changes, added []LockChange
	for what, became := range differences(before, after, func(a, b string) bool { return a == b }) {
		c := LockChange{Kind: became, What: what, From: before[what], To: after[what]}
		if became == Added {
			added = append(added, c)
		} else {
			changes = append(changes, c)
		}
	}
	return append(changes, added...)
}

// Drift is what a plugin is now that the lock does not allow. The tools of a locked source come and go.
func (l Locked) Drift(now Locked) []LockChange {
	return slices.DeleteFunc(l.Diff(now), func(c LockChange) bool { return c.Kind == Removed && strings.HasPrefix(c.What, fromSource) })
}

const fromSource = "tools of source "

// Facts are the parts of an entry, each under its words.
func (l Locked) Facts() map[string]string {
	f := map[string]string{"plugin": l.Plugin, "version": l.Version, "digest": l.Digest, "protocol": fmt.Sprint(l.Protocol), "script": fmt.Sprint(l.Script)}
	lists := map[string][]string{"kind ": l.Kinds, fromSource: l.Sources, "skill ": l.Skills, "grant ": l.Grants, "requires ": l.Requires, "feature ": l.Features}
	for part, list := range l.Calls {
		lists["call of "+part+" "] = list
	}
	for prefix, list := range lists {
		for _, x := range list {
			f[prefix+x] = ""
		}
	}
	for prefix, named := range map[string]map[string]string{"tool ": l.Tools, "agent ": l.Agents, "subscription ": l.Subscriptions, "scheme ": l.Schemes} {
		for name, what := range named {
			f[prefix+name] = what
		}
	}
	return f
}

// Subscribed are the subscriptions of an entry, in the order of their names. One that
// cannot be read, as a later version may write it, denies where it can.
func (l Locked) Subscribed() (subs []sdk.Subscription) {
	for _, name := range slices.Sorted(maps.Keys(l.Subscriptions)) {
		for text := range strings.SplitSeq(strings.TrimSuffix(l.Subscriptions[name], ")"), ") ") { // it may stand there more than once
			s := sdk.Subscription{Name: name, Failure: sdk.FailClosed}
			if _, err := fmt.Sscanf(text, "(priority %d, %s", &s.Priority, &s.Failure); err != nil {
				s.Priority = sdk.DefaultPriority
			}
			if point, _ := sdk.FindHook(name); point.Kind == sdk.HookEvent {
				s.Failure = sdk.FailOpen
			} else if s.Failure != sdk.FailOpen {
				s.Failure = sdk.FailClosed
			}
			subs = append(subs, s)
		}
	}
	return subs
}

// Hold is of a manifest what the lock allows, for a plugin that changed while it
// runs. What is new in it, or another, is left out.
func (l Locked) Hold(m sdk.Manifest) sdk.Manifest {
	held, now := l.Facts(), LockOf(m, "", false).Facts()
	loose := func(what, name string) bool {
		fact := what + norm.NFC.String(name)
		was, is := held[fact]
		return !is || was != now[fact]
	}
	keep := func(what string, list []string) []string {
		return slices.DeleteFunc(slices.Clone(list), func(x string) bool { return loose(what, x) })
	}
	m.Kinds, m.Skills, m.Grants, m.Features = keep("kind ", m.Kinds), keep("skill ", m.Skills), keep("grant ", m.Grants), keep("feature ", m.Features)
	m.Calls = sdk.Calls{
		Tools: keep("call of tools ", m.Calls.Tools), Schemes: keep("call of schemes ", m.Calls.Schemes),
		Models: keep("call of models ", m.Calls.Models), Secrets: keep("call of secrets ", m.Calls.Secrets),
	}
	m.Tools = slices.DeleteFunc(slices.Clone(m.Tools), func(t sdk.ToolSpec) bool {
		hash, static := held["tool "+norm.NFC.String(t.Name)]
		if t.Source != "" {
			return static || loose(fromSource, t.Source)
		}
		return !static || hash != toolHash(t)
	})
	m.Agents = slices.DeleteFunc(slices.Clone(m.Agents), func(a sdk.AgentSpec) bool { return held["agent "+norm.NFC.String(a.Name)] != agentHash(a) })
	m.Subscriptions = slices.DeleteFunc(slices.Clone(m.Subscriptions), func(s sdk.Subscription) bool { return loose("subscription ", s.Name) })
	m.Schemes = slices.DeleteFunc(slices.Clone(m.Schemes), func(s sdk.Scheme) bool { return loose("scheme ", s.Name) })
	m.Projections = slices.DeleteFunc(slices.Clone(m.Projections), func(name string) bool { return loose("scheme ", name) })
	return m
}
