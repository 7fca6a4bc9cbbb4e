package daemon

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/go-hclog"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/sdk"
)

// PluginFiles are the plugins of a configuration as files: what can be said and
// done without a daemon. One that runs takes up what changes.
type PluginFiles struct {
	file    string // the configuration that the command line names
	path    string // the one that is read
	cfg     *config.Config
	secrets *audit.Redactor
	inspect *host.Inspector
	store   host.Installed
}

// OpenPluginFiles reads a configuration as a daemon would. The error is
// validation for one that cannot be used.
func OpenPluginFiles(file string) (*PluginFiles, error) {
	f := &PluginFiles{file: file, secrets: &audit.Redactor{}}
	var diags config.Diagnostics
	if f.path, f.cfg, diags = LoadConfig(file, f.secrets); f.cfg == nil {
		return nil, sdk.Errorf(sdk.Validation, "the configuration cannot be used:\n%s", f.secrets.Redact(diags.Error()))
	}
	paths, err := findPaths(f.cfg)
	if err != nil {
		return nil, err
	}
	f.store = host.Installed{Dir: paths.Plugins}
	f.inspect = host.NewInspector(host.Config{
		Log: hclog.NewNullLogger(), Libexec: []string{paths.Libexec}, DataDir: paths.Data, Installed: paths.Plugins,
		Shim: filepath.Join(paths.Libexec, "bothy-shim"), Redact: f.secrets.Add,
	})
	return f, nil
}

// LockPath is where the lock of this configuration lies.
func (f *PluginFiles) LockPath() string { return config.LockPath(f.path) }

func (f *PluginFiles) blocks() []config.Plugin {
	return slices.Concat(f.cfg.Plugins, f.cfg.Providers)
}

// named are the blocks of these labels, or all that are enabled.
func (f *PluginFiles) named(labels []string) (found []config.Plugin, unknown []string) {
	all := f.blocks()
	if len(labels) == 0 {
		return slices.DeleteFunc(all, func(b config.Plugin) bool { return !b.Enabled }), nil
	}
	for _, label := range labels {
		if b, ok := labelled(all, label); ok {
			found = append(found, b)
		} else {
			unknown = append(unknown, label)
		}
	}
	return found, unknown
}

func (f *PluginFiles) noSuch(labels []string) error {
	var have []string
	for _, b := range f.blocks() {
		have = append(have, b.Label)
	}
	return sdk.Errorf(sdk.NotFound, "no plugin or provider is called %s; there are: %s", strings.Join(labels, ", "), strings.Join(have, ", "))
}

// PluginLocking is what a locking came to.
type PluginLocking struct {
	File    string              `json:"file"`
	Changes []config.LockChange `json:"changes"`
	Locked  []string            `json:"locked"`  // the labels that were looked at
	Scripts []string            `json:"scripts"` // whose interpreter and imports no digest covers
	Failed  []PluginFailure     `json:"failed"`  // what could not be looked at; its entry stays
	Written bool                `json:"written"`
}

// PluginFailure is why nothing could be said of a plugin.
type PluginFailure struct {
	Label  string `json:"label"`
	Reason string `json:"reason"`
}

// Lock writes into bothy.lock what the plugins of these labels are now, all when
// there are none. With look it writes nothing, and says what it would.
func (f *PluginFiles) Lock(ctx context.Context, labels []string, look bool) (PluginLocking, error) {
	out := PluginLocking{File: f.LockPath(), Changes: []config.LockChange{}, Locked: []string{}, Scripts: []string{}, Failed: []PluginFailure{}}
	blocks, gone := f.named(labels)
	lock, err := config.ReadLock(out.File)
	if err != nil {
		return out, err
	}
	for _, label := range gone {
		if _, ok := lock.Plugins[label]; !ok {
			return out, f.noSuch([]string{label})
		}
	}
	entries := map[string]config.Locked{}
	for _, b := range blocks {
		entry, err := f.inspect.Lock(ctx, specOf(f.cfg, b))
		if err != nil {
			out.Failed = append(out.Failed, PluginFailure{b.Label, f.secrets.Redact(err.Error())})
			continue
		}
		entries[b.Label] = entry
		out.Locked = append(out.Locked, b.Label)
		if entry.Script {
			out.Scripts = append(out.Scripts, b.Label)
		}
	}
	edit := func(l *config.Lock) error {
		for label, entry := range entries {
			l.Put(label, entry)
		}
		for label := range l.Plugins {
			if _, there := labelled(f.blocks(), label); !there && (len(labels) == 0 || slices.Contains(labels, label)) {
				delete(l.Plugins, label)
			}
		}
		return nil
	}
	do := config.EditLock
	if look {
		do = config.PlanLock
	}
	was, now, err := do(out.File, edit)
	if err != nil {
		return out, err
	}
	out.Changes = append(out.Changes, config.DiffLock(was, now)...)
	out.Written = !look && len(out.Changes) > 0
	return out, nil
}

// Verify compares the files of these labels, all when there are none, with what
// pins them, and with all the store itself.
func (f *PluginFiles) Verify(labels []string) ([]host.Verified, error) {
	blocks, unknown := f.named(labels)
	if len(unknown) > 0 {
		return nil, f.noSuch(unknown)
	}
	out := []host.Verified{}
	for _, b := range blocks {
		v := f.inspect.Verify(specOf(f.cfg, b))
		v.Problem = f.secrets.Redact(v.Problem)
		out = append(out, v)
	}
	if len(labels) > 0 {
		return out, nil
	}
	damaged, err := f.store.Damaged()
	if err != nil {
		return nil, fmt.Errorf("look at the store of plugins: %w", err)
	}
	for _, d := range damaged {
		if !slices.ContainsFunc(out, func(v host.Verified) bool { return v.Path == d.Path && v.Problem != "" }) {
			out = append(out, d)
		}
	}
	return out, nil
}

// ConfigPath is the user's configuration.
func (f *PluginFiles) ConfigPath() string { return f.path }

// PluginInfo is what can be said of one plugin without a daemon.
type PluginInfo struct {
	Label    string              `json:"label"`
	File     host.Verified       `json:"file"`
	Manifest sdk.Manifest        `json:"manifest"`
	Grants   []string            `json:"grants"` // that its block gives
	Drift    []config.LockChange `json:"drift"`  // from bothy.lock
}

// Info looks at one plugin.
func (f *PluginFiles) Info(ctx context.Context, label string) (PluginInfo, error) {
	b, ok := labelled(f.blocks(), label)
	if !ok {
		return PluginInfo{}, f.noSuch([]string{label})
	}
	spec := specOf(f.cfg, b)
	info := PluginInfo{Label: label, File: f.inspect.Verify(spec), Grants: append([]string{}, b.Grants...), Drift: []config.LockChange{}}
	m, entry, err := f.inspect.Declared(ctx, spec)
	if err != nil {
		return info, sdk.Errorf(sdk.Unavailable, "%s", f.secrets.Redact(err.Error()))
	}
	info.Manifest = m
	if b.Locked != nil {
		info.Drift = append(info.Drift, b.Locked.Drift(entry)...)
	}
	return info, nil
}
