package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// LockName is the lock's name, beside the user's configuration.
const LockName = "bothy.lock"

// lockVersion is the format of the lock that is written and read.
const lockVersion = 1

// Lock is the file bothy.lock: what each plugin and provider was when a person
// last looked at it. Who is named in it runs only as it was then. What a later
// version wrote into it and this one does not know is kept.
type Lock struct {
	Plugins map[string]Locked // by the label of the block
	extra   map[string]json.RawMessage
}

// Locked is what the lock says of one plugin. Nothing in it depends on where
// the file lies, so that a lock can be copied to another machine.
type Locked struct {
	Plugin        string             `json:"plugin"` // the name in its manifest
	Version       string             `json:"version,omitempty"`
	Digest        string             `json:"digest"`           // hex SHA-256 of the file
	Script        bool               `json:"script,omitempty"` // the digest covers neither the interpreter nor what the script imports
	Protocol      int                `json:"protocol,omitempty"`
	Kinds         []string           `json:"kinds,omitempty"`
	Tools         map[string]string  `json:"tools,omitempty"`   // hex SHA-256 of what is declared, by name
	Sources       []string           `json:"sources,omitempty"` // whose dynamic tools may come and go
	Skills        []string           `json:"skills,omitempty"`
	Subscriptions []sdk.Subscription `json:"subscriptions,omitempty"`
	Schemes       []sdk.Scheme       `json:"schemes,omitempty"`
	Grants        []string           `json:"grants,omitempty"` // that it wants
	Calls         sdk.Calls          `json:"calls,omitzero"`
	Requires      []string           `json:"requires,omitempty"`
	Features      []string           `json:"features,omitempty"`

	raw   json.RawMessage // as it was read; nil when it is another now
	extra map[string]json.RawMessage
}

// LockOf is what a lock says of a plugin with this manifest and this file.
func LockOf(m sdk.Manifest, digest string, script bool) Locked {
	l := Locked{
		Plugin: m.Name, Version: m.Version, Digest: digest, Script: script, Protocol: m.Protocol,
		Kinds: set(m.Kinds), Skills: set(m.Skills), Grants: set(m.Grants), Requires: set(m.Requires), Features: set(m.Features),
		Calls: sdk.Calls{Tools: set(m.Calls.Tools), Schemes: set(m.Calls.Schemes), Models: set(m.Calls.Models), Secrets: set(m.Calls.Secrets)},
	}
	for _, t := range m.Tools {
		if t.Source != "" {
			l.Sources = append(l.Sources, t.Source)
			continue
		}
		if l.Tools == nil {
			l.Tools = map[string]string{}
		}
		if _, twice := l.Tools[t.Name]; !twice { // the first one counts, as when it is offered
			l.Tools[t.Name] = toolHash(t)
		}
	}
	l.Sources = set(l.Sources)
	l.Subscriptions = slices.Clone(m.Subscriptions)
	sortBy(l.Subscriptions, func(s sdk.Subscription) string { return s.Name + "\x00" + subscriptionText(s) })
	l.Schemes = slices.Clone(m.Schemes)
	sortBy(l.Schemes, func(s sdk.Scheme) string { return s.Name })
	return l
}

// toolHash sums up what of a tool is checked and believed: its schema, and its
// annotations. What only a model reads of it is not part of it.
func toolHash(t sdk.ToolSpec) string {
	declared := map[string]any{"annotations": t.Annotations, "staged": t.Staged, "command": t.Command}
	if t.Unlisted { // left out else, as in locks that know nothing of it
		declared["unlisted"] = true
	}
	parameters, err := sdk.Canonical(t.Parameters)
	if err != nil {
		declared["unusable"] = string(t.Parameters) // it is not offered, but it is pinned
	} else {
		declared["parameters"] = parameters
	}
	hash, err := sdk.HashOf(declared)
	if err != nil {
		return "unusable: " + err.Error() // of no type that cannot be encoded
	}
	return hash
}

// set is a list as the lock holds it: sorted, each once, never empty.
func set(list []string) []string {
	list = slices.Compact(slices.Sorted(slices.Values(list)))
	if len(list) == 0 {
		return nil
	}
	return list
}

// ReadLock reads the lock at path. One that is not there is empty. The error is
// validation and names file, line and reason when it is broken.
func ReadLock(path string) (Lock, error) {
	text, _, err := readWhole(path)
	if err != nil {
		return Lock{}, err
	}
	return ParseLock(path, text)
}

// EditLock lets change change the lock at path, and returns what it was and what
// it is. The file is exchanged whole or not at all, and stays byte for byte when
// nothing changed. A broken one is refused and left alone.
func EditLock(path string, change func(*Lock) error) (was, now Lock, err error) {
	_, err = edit(path, func(text []byte) ([]byte, error) {
		var err error
		if was, err = ParseLock(path, text); err != nil {
			return nil, err
		}
		now = Lock{Plugins: maps.Clone(was.Plugins), extra: was.extra}
		if err := change(&now); err != nil || len(DiffLock(was, now)) == 0 {
			return text, err
		}
		edited, err := now.encode()
		if err != nil {
			return nil, err
		}
		// A lock that cannot be read stops everything: it is never written.
		if _, err := ParseLock(path, edited); err != nil {
			return nil, sdk.Errorf(sdk.Validation, "nothing was written, for it could not be read again: %w", err)
		}
		return edited, nil
	})
	if err != nil {
		now = was
	}
	return was, now, err
}

// PlanLock is EditLock without writing anything.
func PlanLock(path string, edit func(*Lock) error) (was, now Lock, err error) {
	if was, err = ReadLock(path); err != nil {
		return Lock{}, Lock{}, err
	}
	now = Lock{Plugins: maps.Clone(was.Plugins), extra: was.extra}
	return was, now, edit(&now)
}

// Put makes the lock say this of a plugin. What an entry of a later version
// says besides is kept.
func (l *Lock) Put(label string, entry Locked) {
	was, had := l.Plugins[label]
	switch {
	case had && len(was.Diff(entry)) == 0:
		return
	case l.Plugins == nil:
		l.Plugins = map[string]Locked{}
	}
	entry.raw, entry.extra = nil, was.extra
	l.Plugins[label] = entry
}

// encode writes the lock in its one way: sorted, indented, with an end of line.
func (l Lock) encode() ([]byte, error) {
	plugins := map[string]json.RawMessage{}
	for label, entry := range l.Plugins {
		if plugins[label] = entry.raw; entry.raw != nil {
			continue
		}
		text, err := withExtra(entry, entry.extra)
		if err != nil {
			return nil, err
		}
		plugins[label] = text
	}
	whole, err := withExtra(map[string]any{"version": lockVersion, "plugins": plugins}, l.extra)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, whole, "", "  "); err != nil {
		return nil, sdk.Errorf(sdk.Internal, "write the lock: %w", err)
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// withExtra is an object with the members that nobody here knows.
func withExtra(v any, extra map[string]json.RawMessage) (json.RawMessage, error) {
	text, err := plainJSON(v)
	if err != nil {
		return nil, err
	}
	members := maps.Clone(extra)
	if members == nil {
		members = map[string]json.RawMessage{}
	}
	if err := json.Unmarshal(text, &members); err != nil {
		return nil, sdk.Errorf(sdk.Internal, "write the lock: %w", err)
	}
	return plainJSON(members)
}

// plainJSON encodes without the escapes that are meant for web pages.
func plainJSON(v any) (json.RawMessage, error) {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, sdk.Errorf(sdk.Internal, "write the lock: %w", err)
	}
	return out.Bytes(), nil
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
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return
	}
	lock, err := ReadLock(path)
	if err != nil {
		d := Diagnostic{Severity: "error", Summary: "The lock of the plugins cannot be used", Detail: err.Error()}
		var broken *BrokenLock
		if errors.As(err, &broken) {
			d.File, d.Line, d.Column, d.Detail = path, broken.Line, 1, broken.Reason+"; "+broken.what()
		}
		l.diags = append(l.diags, d)
		return
	}
	for _, list := range [][]Plugin{l.cfg.Plugins, l.cfg.Providers} {
		for i, p := range list {
			if entry, ok := lock.Plugins[p.Label]; ok {
				list[i].Locked = &entry
			}
		}
	}
}
