package config

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"golang.org/x/text/unicode/norm"

	"github.com/bothyd/bothy/sdk"
)

// LockName is the lock's name, beside the user's configuration.
const LockName = "bothy.lock"

// Lock is the file bothy.lock: what each plugin and provider was when a person
// last looked at it. Who is named in it runs only as it was then.
type Lock struct {
	Plugins map[string]Locked // by the label of the block

	end []byte // the comments behind the last block
}

// Locked is what the lock says of one plugin. Nothing in it depends on where
// the file lies, so that a lock can be copied to another machine.
type Locked struct {
	Label         string              `hcl:"label,label"`     // of its block; of one that was read
	Plugin        string              `hcl:"plugin,optional"` // the name in its manifest
	Version       string              `hcl:"version,optional"`
	Digest        string              `hcl:"digest"`          // hex SHA-256 of the file
	Script        bool                `hcl:"script,optional"` // the digest covers neither the interpreter nor what the script imports
	Protocol      int                 `hcl:"protocol,optional"`
	Kinds         []string            `hcl:"kinds,optional"`
	Tools         map[string]string   `hcl:"tools,optional"`   // hex SHA-256 of what is declared, by name
	Sources       []string            `hcl:"sources,optional"` // whose dynamic tools may come and go
	Skills        []string            `hcl:"skills,optional"`
	Agents        map[string]string   `hcl:"agents,optional"`        // hex SHA-256 of what is declared, by name
	Subscriptions map[string]string   `hcl:"subscriptions,optional"` // how, by the name of the hook
	Schemes       map[string]string   `hcl:"schemes,optional"`       // what they are, by name
	Grants        []string            `hcl:"grants,optional"`        // that it wants
	Calls         map[string][]string `hcl:"calls,optional"`         // by the part of sdk.Calls
	Requires      []string            `hcl:"requires,optional"`
	Features      []string            `hcl:"features,optional"`

	Later hcl.Attributes `hcl:",remain"` // what only a later version knows
	text  []byte         // its block as it was read, with the comments above it
}

// LockOf is what a lock says of a plugin with this manifest and this file.
func LockOf(m sdk.Manifest, digest string, script bool) Locked {
	l := Locked{
		Plugin: norm.NFC.String(m.Name), Version: norm.NFC.String(m.Version), Digest: digest, Script: script, Protocol: m.Protocol,
		Kinds: set(m.Kinds), Skills: set(m.Skills), Grants: set(m.Grants), Requires: set(m.Requires), Features: set(m.Features),
		Tools: map[string]string{}, Agents: map[string]string{}, Subscriptions: map[string]string{}, Schemes: map[string]string{}, Calls: map[string][]string{},
	}
	for _, t := range m.Tools {
		if t.Source != "" {
			l.Sources = append(l.Sources, t.Source)
		} else if name := norm.NFC.String(t.Name); l.Tools[name] == "" { // the first one counts, as when it is offered
			l.Tools[name] = toolHash(t)
		}
	}
	l.Sources = set(l.Sources)
	for _, a := range m.Agents {
		if name := norm.NFC.String(a.Name); l.Agents[name] == "" { // the first one counts, as when it is taken
			l.Agents[name] = agentHash(a)
		}
	}
	for _, s := range m.Subscriptions {
		addFact(l.Subscriptions, s.Name, fmt.Sprintf("(priority %d, %s)", s.Priority, cmp.Or(s.Failure, sdk.FailOpen)))
	}
	for _, s := range m.Schemes {
		shown := "" // by the daemon itself
		if slices.Contains(m.Projections, s.Name) {
			shown = ", as the plugin shows it"
		}
		addFact(l.Schemes, s.Name, fmt.Sprintf("(%s, %s, written by %v, for models: %v%s)", s.Category, s.Scope, s.WritableBy, s.ModelVisible, shown))
	}
	for part, list := range map[string][]string{"tools": m.Calls.Tools, "schemes": m.Calls.Schemes, "models": m.Calls.Models, "secrets": m.Calls.Secrets} {
		if len(list) > 0 {
			l.Calls[part] = set(list)
		}
	}
	return l
}

// toolHash sums up what of a tool is checked and believed: its schema, and its
// annotations. What only a model reads of it is not part of it.
func toolHash(t sdk.ToolSpec) string {
	declared := map[string]any{"annotations": t.Annotations, "staged": t.Staged, "command": t.Command}
	if t.Unlisted { // left out else, as in locks that know nothing of it
		declared["unlisted"] = true
	}
	if t.Keeps {
		declared["keeps"] = true
	}
	if t.People {
		declared["people"] = true
	}
	if parameters, err := sdk.Canonical(t.Parameters); err == nil {
		declared["parameters"] = parameters
	} else {
		declared["unusable"] = string(t.Parameters) // it is not offered, but it is pinned
	}
	hash, err := sdk.HashOf(declared)
	if err != nil {
		return "unusable: " + err.Error() // of no type that cannot be encoded
	}
	return hash
}

// agentHash sums up an agent whole: all of it is what a person took.
func agentHash(a sdk.AgentSpec) string {
	declared := map[string]any{"description": a.Description, "persona": a.Persona, "tools": append([]string{}, a.Tools...)}
	if len(a.Schema) > 0 {
		declared["schema"] = string(a.Schema) // of one that is unusable
		if schema, err := sdk.Canonical(a.Schema); err == nil {
			declared["schema"] = schema
		}
	}
	hash, err := sdk.HashOf(declared)
	if err != nil {
		return "unusable: " + err.Error() // of no type that cannot be encoded
	}
	return hash
}

// set is a list as the lock holds it: sorted, each once, in the one spelling that HCL has.
func set(list []string) []string {
	all := map[string]bool{}
	for _, x := range list {
		all[norm.NFC.String(x)] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// addFact adds to what is said of a name, which may stand in a manifest more than once, in any order.
func addFact(facts map[string]string, name, text string) {
	name, text = norm.NFC.String(name), norm.NFC.String(text)
	if was := facts[name]; was != "" {
		text = min(was, text) + " " + max(was, text)
	}
	facts[name] = text
}

// ReadLock reads the lock at path. One that is not there is empty; see ParseLock for a broken one.
func ReadLock(path string) (Lock, error) {
	text, _, err := readWhole(path)
	if err != nil {
		return Lock{}, err
	}
	return ParseLock(path, text)
}

// EditLock lets change change the lock at path, and returns what it was and, without an error, what it is. The file
// is exchanged whole or not at all, and stays byte for byte when nothing changed. A broken one is left alone.
func EditLock(path string, change func(*Lock) error) (was, now Lock, err error) {
	_, err = edit(path, func(text []byte) (edited []byte, err error) {
		if was, err = ParseLock(path, text); err != nil {
			return nil, err
		}
		now = Lock{Plugins: maps.Clone(was.Plugins), end: was.end}
		if err := change(&now); err != nil || len(DiffLock(was, now)) == 0 {
			return text, err
		}
		edited = now.encode(was)
		if _, err = ParseLock(path, edited); err != nil { // one that cannot be read stops everything
			err = sdk.Errorf(sdk.Validation, "nothing was written, for it could not be read again: %w", err)
		}
		return edited, err
	})
	return was, now, err
}

// LockPath is where the lock of a configuration lies.
func LockPath(config string) string { return filepath.Join(filepath.Dir(config), LockName) }

// lock reads the lock beside the user's file, and gives each block its entry.
// A lock that cannot be read pins nobody knows whom, so that nothing starts.
func (l *loader) lock() {
	if l.src.Path == "" {
		return
	}
	path := LockPath(l.src.Path)
	if l.src.Noted != nil {
		l.src.Noted(path)
	}
	lock, err := ReadLock(path)
	if diags := (Diagnostics)(nil); errors.As(err, &diags) {
		l.diags = append(l.diags, diags...)
	} else if err != nil {
		l.fail("The lock of the plugins cannot be used", err.Error())
	}
	for _, list := range l.cfg.lists() {
		for i, p := range list {
			entry, ok := lock.Plugins[p.Label]
			switch {
			case ok && p.Server != nil:
				p.Server.Accepted = &entry
			case ok:
				list[i].Locked = &entry
			}
		}
	}
}
