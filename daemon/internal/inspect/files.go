package inspect

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// Files are the plugins of a configuration as files: what can be said and done without a
// daemon. One that runs takes up what changes. All fields are needed.
type Files struct {
	Path      string              // the user's configuration
	Config    *config.Config      // as it was read from there
	Defaults  *config.Config      // what Bothy comes with
	Inspector *Inspector          // of the installation
	Check     func() error        // reads the configuration again, and says why it cannot be used
	Redact    func(string) string // takes secrets out of a text for people
}

// LockPath is where the lock of this configuration lies.
func (f *Files) LockPath() string { return config.LockPath(f.Path) }

func (f *Files) blocks() []config.Plugin {
	return slices.Concat(f.Config.Plugins, f.Config.Providers)
}

// labelled is the first block of a label, and the type of it.
func (f *Files) labelled(label string) (b config.Plugin, kind string, there bool) {
	for n, b := range f.blocks() {
		if b.Label == label && n < len(f.Config.Plugins) {
			return b, "plugin", true
		} else if b.Label == label {
			return b, "provider", true
		}
	}
	return b, "", false
}

// bundled reports whether a block is of a plugin that comes with Bothy.
func (f *Files) bundled(b config.Plugin) bool {
	return b.Path == "" || slices.ContainsFunc(slices.Concat(f.Defaults.Plugins, f.Defaults.Providers), func(d config.Plugin) bool { return d.Label == b.Label })
}

// named are the blocks of these labels, or all that are enabled.
func (f *Files) named(labels []string) (found []config.Plugin, unknown []string) {
	if len(labels) == 0 {
		return slices.DeleteFunc(f.blocks(), func(b config.Plugin) bool { return !b.Enabled }), nil
	}
	for _, label := range labels {
		if b, _, there := f.labelled(label); there {
			found = append(found, b)
		} else {
			unknown = append(unknown, label)
		}
	}
	return found, unknown
}

func (f *Files) noSuch(labels ...string) error {
	var have []string
	for _, b := range f.blocks() {
		have = append(have, b.Label)
	}
	return sdk.Errorf(sdk.NotFound, "no plugin or provider is called %s; there are: %s", strings.Join(labels, ", "), strings.Join(have, ", "))
}

// pin makes the lock say this of a label, with nil nothing, and returns what it said before.
func (f *Files) pin(label string, entry *config.Locked) (*config.Locked, error) {
	was, _, err := config.EditLock(f.LockPath(), func(l *config.Lock) error {
		if entry == nil {
			delete(l.Plugins, label)
		} else {
			l.Plugins[label] = *entry
		}
		return nil
	})
	if before, had := was.Plugins[label]; had {
		return &before, err
	}
	return nil, err
}

// Locking is what a locking came to.
type Locking struct {
	File    string              `json:"file"`
	Changes []config.LockChange `json:"changes"`
	Locked  []string            `json:"locked"`  // the labels that were looked at
	Scripts []string            `json:"scripts"` // whose interpreter and imports no digest covers
	Failed  []Failure           `json:"failed"`  // what could not be looked at; its entry stays
	Written bool                `json:"written"`
}

// Failure is why nothing could be said of a plugin.
type Failure struct {
	Label  string `json:"label"`
	Reason string `json:"reason"`
}

// Lock writes into bothy.lock what the plugins of these labels are now, all when there are
// none. With look it writes nothing and says what it would, and leaves out, of all, what
// needs no place there and has none: what comes with Bothy, and what its block pins.
func (f *Files) Lock(ctx context.Context, labels []string, look bool) (Locking, error) {
	out := Locking{File: f.LockPath(), Changes: []config.LockChange{}, Locked: []string{}, Scripts: []string{}, Failed: []Failure{}}
	blocks, gone := f.named(labels)
	for _, label := range labels {
		if name, is := strings.CutPrefix(label, sdk.MCPPrefix); is {
			return out, sdk.Errorf(sdk.Validation, "%s is a server of MCP: bothy mcp accept %s shows and accepts what it is", label, name)
		}
	}
	entries := map[string]config.Locked{}
	for _, b := range blocks {
		if b.Server != nil {
			continue // its entry is of what it starts
		}
		if look && len(labels) == 0 && b.Locked == nil && (b.SHA256 != "" || f.bundled(b)) {
			continue
		}
		_, entry, err := f.Inspector.Declared(ctx, SpecOf(f.Config, b))
		if err != nil {
			out.Failed = append(out.Failed, Failure{b.Label, f.Redact(err.Error())})
			continue
		}
		entries[b.Label] = entry
		out.Locked = append(out.Locked, b.Label)
		if entry.Script {
			out.Scripts = append(out.Scripts, b.Label)
		}
	}
	change := func(l *config.Lock) error {
		for _, label := range gone {
			if _, locked := l.Plugins[label]; !locked {
				return f.noSuch(label)
			}
		}
		for label, entry := range entries {
			l.Plugins[label] = entry
		}
		for label := range l.Plugins {
			if _, _, there := f.labelled(label); !there && (len(labels) == 0 || slices.Contains(labels, label)) {
				delete(l.Plugins, label)
			}
		}
		return nil
	}
	edit := config.EditLock
	if look {
		edit = planned
	}
	was, now, err := edit(out.File, change)
	if err != nil {
		return out, err
	}
	out.Changes = append(out.Changes, config.DiffLock(was, now)...)
	out.Written = !look && len(out.Changes) > 0
	return out, nil
}

// planned is config.EditLock without the writing.
func planned(file string, change func(*config.Lock) error) (was, now config.Lock, err error) {
	was, err = config.ReadLock(file)
	if err != nil {
		return was, now, err
	}
	now.Plugins = maps.Clone(was.Plugins)
	return was, now, change(&now)
}

// Verify compares the files of these labels, all when there are none, with what
// pins them, and with all the store itself.
func (f *Files) Verify(labels []string) ([]Verified, error) {
	blocks, unknown := f.named(labels)
	if len(unknown) > 0 {
		return nil, f.noSuch(unknown...)
	}
	out := []Verified{}
	for _, b := range blocks {
		v := f.Inspector.Verify(SpecOf(f.Config, b))
		v.Problem = f.Redact(v.Problem)
		out = append(out, v)
	}
	if len(labels) > 0 {
		return out, nil
	}
	for _, d := range f.Inspector.Damaged() {
		if !slices.ContainsFunc(out, func(v Verified) bool { return v.Path == d.Path && v.Problem != "" }) {
			out = append(out, d)
		}
	}
	return out, nil
}

// Info is what can be said of one plugin without a daemon.
type Info struct {
	Label    string              `json:"label"`
	File     Verified            `json:"file"`
	Manifest sdk.Manifest        `json:"manifest"`
	Grants   []string            `json:"grants"` // that its block gives
	Drift    []config.LockChange `json:"drift"`  // from bothy.lock
}

// Info looks at one plugin.
func (f *Files) Info(ctx context.Context, label string) (Info, error) {
	b, _, there := f.labelled(label)
	if !there {
		return Info{}, f.noSuch(label)
	}
	spec := SpecOf(f.Config, b)
	info := Info{Label: label, File: f.Inspector.Verify(spec), Grants: append([]string{}, b.Grants...), Drift: []config.LockChange{}}
	m, entry, err := f.Inspector.Declared(ctx, spec)
	if err != nil {
		return info, sdk.Errorf(sdk.Unavailable, "%s", f.Redact(err.Error()))
	}
	info.Manifest = m
	if b.Locked != nil {
		info.Drift = append(info.Drift, b.Locked.Drift(entry)...)
	}
	return info, nil
}
