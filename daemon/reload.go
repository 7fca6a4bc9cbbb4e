package daemon

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/logfile"
	"github.com/bothyd/bothy/daemon/internal/skill/answer"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// What problems are about, beside plugins.
type about string

const (
	aboutFiles about = "the files of the configuration"
	aboutStart about = "what waits for the next start"
	aboutCrash about = "how the daemon before this one ended"
	aboutWeb   about = "the web listener"
)

// aboutWorkspace is the own file of a project, by its root.
type aboutWorkspace string

// current is the configuration in force. It is never changed, only replaced:
// whoever needs two values of it at one moment calls this once.
func (d *Daemon) current() *config.Config { return d.live.Load() }

// readConfig reads the configuration as New and each reload do, and keeps which
// files it is made of.
func (d *Daemon) readConfig() (string, *config.Config, config.Diagnostics) {
	d.reads.Clear()
	d.reads.Store(d.keys.Path(), nil)
	return loadConfig(d.file, d.secrets, d.keys, func(path string) { d.reads.Store(path, nil) })
}

// Reload reads the configuration again and puts what changed in force. The error says why it cannot: everything goes
// on as it was, then. What it finds is in the log and in `bothy status` either way.
func (d *Daemon) Reload(ctx context.Context) error {
	return refused(d.ReloadConfig(ctx))
}

func refused(r rpc.Reloaded) error {
	if r.Applied {
		return nil
	}
	var text []string
	for _, x := range r.Diagnostics {
		text = append(text, x.Text)
	}
	return sdk.Errorf(sdk.Validation, "the configuration cannot be used, and the one that was in force stays:\n%s", strings.Join(text, "\n"))
}

// ReloadConfig implements server.Daemon: it reads the files, whatever the watcher
// thinks of them, and asks the keyring anew.
func (d *Daemon) ReloadConfig(ctx context.Context) rpc.Reloaded {
	d.keys.Again()
	return d.reread(ctx)
}

// reread is ReloadConfig with what the keyring told before.
func (d *Daemon) reread(ctx context.Context) rpc.Reloaded {
	if d.files != nil {
		d.files.Reading()
	}
	r, _ := d.reloadIf(ctx, func() bool { return true })
	return r
}

// catchUpTime is how long whoever connects waits for what was saved just before.
const catchUpTime = 3 * time.Second

// CatchUp implements server.Daemon.
func (d *Daemon) CatchUp(ctx context.Context) {
	if d.files != nil {
		_ = d.files.CatchUp(ctx, catchUpTime) // who does not wait has gone
	}
}

// CheckConfig implements server.Daemon: what is wrong with the files as they are now, the
// own one of a project among them. Nothing is put in force.
func (d *Daemon) CheckConfig(ctx context.Context, p rpc.ConfigCheck) rpc.ConfigChecked {
	path, cfg, diags := checkConfig(ctx, d.file, p.Project, d.secrets, d.keys)
	return rpc.ConfigChecked{Path: path, Usable: cfg != nil, Diagnostics: d.shown(diags)}
}

// reloadIf changes only what differs from the configuration in force: settings and models and agents are exchanged
// whole, plugins one by one. It does nothing when what it read is not to be taken.
func (d *Daemon) reloadIf(ctx context.Context, take func() bool) (rpc.Reloaded, bool) {
	d.reloading.Lock()
	defer d.reloading.Unlock()
	if d.stopping.Err() != nil {
		return rpc.Reloaded{Diagnostics: []rpc.Diagnostic{{Severity: "error", Text: "the daemon is stopping; the next one reads the configuration as it is then"}}}, false
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(d.stopping, cancel)()
	path, cfg, diags := d.readConfig()
	d.follow(path)
	if !take() {
		return rpc.Reloaded{}, false
	}
	return d.put(ctx, path, cfg, diags), true
}

// put puts a configuration that was read in force.
func (d *Daemon) put(ctx context.Context, path string, cfg *config.Config, diags config.Diagnostics) rpc.Reloaded {
	d.say(aboutFiles, diags)
	r := rpc.Reloaded{Path: path, Diagnostics: d.shown(diags)}
	if cfg == nil {
		return r
	}
	r.Applied = true
	for _, c := range config.Diff(d.current(), cfg) {
		r.Changes = append(r.Changes, rpc.ConfigChange{Block: c.Block, Label: c.Label, Kind: string(c.Kind), Settings: c.Settings, Text: c.String()})
		d.log.Info("the configuration changed", "change", c.String())
	}
	cfg.LearnSecrets()
	d.live.Store(cfg)
	d.ran = config.Ran(cmp.Or(d.ran, d.cfg), cfg)
	waits := config.NeedsStart(d.ran, cfg)
	d.say(aboutStart, waits)
	r.Diagnostics = append(r.Diagnostics, d.shown(waits)...)
	if err := d.log.Configure(logfile.Settings(cfg.Log)); err != nil {
		d.log.Warn("the log stays as it was", "error", err) // Load has checked it
	}
	d.host.Forget(cfg.Keyless()) // a key that was taken away is used no more
	for _, x := range d.host.Apply(ctx, d.blocks(cfg)) {
		r.Diagnostics = append(r.Diagnostics, d.host.Diagnostic(x))
	}
	d.models.Configure(cfg)
	d.library.Configure(answer.Settings(cfg, d.bundled, d.shelf()))
	return r
}

// sayWorkspace keeps what is wrong with the own file of a project.
func (d *Daemon) sayWorkspace(project string, diags config.Diagnostics) {
	d.say(aboutWorkspace(project), diags)
}

// say keeps the diagnostics about something for `status`, in the place of those
// that were there, and logs what is new.
func (d *Daemon) say(about any, diags config.Diagnostics) {
	var now []problem
	for _, x := range diags {
		now = append(now, problem{text: d.secrets.Redact(config.Diagnostics{x}.Error()), mistake: d.mistake(x)})
	}
	for _, fresh := range d.problems.replace(about, now) {
		d.log.Warn(fresh)
	}
}

// mistake is an error of the configuration in one line; empty for what is none.
func (d *Daemon) mistake(x config.Diagnostic) string {
	if x.Severity != "error" {
		return ""
	}
	text := strings.TrimSuffix(x.Summary, ".")
	if x.Detail != "" {
		what, more, _ := strings.Cut(strings.Join(strings.Fields(x.Detail), " "), ". ")
		text += ": " + what
		if meant, _, is := strings.Cut(more, "?"); is && strings.HasPrefix(meant, "Did you mean") {
			text += ". " + meant + "?"
		}
	}
	if x.File != "" {
		text = fmt.Sprintf("%s:%d: %s", x.File, x.Line, text)
	}
	return d.secrets.Redact(text)
}

// Mistakes implements server.Daemon: of a project, its own file is read as it is now.
func (d *Daemon) Mistakes(project string) rpc.Mistakes {
	written{d.current, d.sayWorkspace}.workspace(d.current(), project)
	return rpc.Mistakes{Mistakes: d.problems.mistakes(project), Unseen: d.host.Unseen()}
}

func (d *Daemon) shown(diags config.Diagnostics) []rpc.Diagnostic {
	var out []rpc.Diagnostic
	for _, x := range diags {
		out = append(out, rpc.Diagnostic{
			Severity: x.Severity, File: x.File, Line: x.Line, Column: x.Column,
			Text: d.secrets.Redact(config.Diagnostics{x}.Error()),
		})
	}
	return out
}

// followFiles reloads whenever a file of the configuration changes.
func (d *Daemon) followFiles() error {
	d.files = watch.NewContents(d.log.Named("config"), "files of the configuration", config.MaxFile, func(still func() bool) bool {
		r, taken := d.reloadIf(d.stopping, still)
		if taken && !r.Applied {
			d.log.Error("not reloaded", "error", refused(r))
		}
		return taken
	})
	d.work.add("watcher of the configuration", func() error {
		d.files.Close()
		return nil
	})
	path, err := ConfigPath(d.file)
	if err != nil {
		return err
	}
	d.follow(path)
	return nil
}

// configFile is the user's file, empty when there is no place for one.
func (d *Daemon) configFile() string {
	path, err := ConfigPath(d.file)
	if err != nil {
		return ""
	}
	return path
}

// configFolder is where that file lies, or would; empty when there is no place for it.
func (d *Daemon) configFolder() string {
	if path := d.configFile(); path != "" {
		return filepath.Dir(path)
	}
	return ""
}

// follow tells the watcher which files count now.
func (d *Daemon) follow(path string) {
	if d.files == nil {
		return
	}
	files := []string{path}
	d.reads.Range(func(file, _ any) bool {
		if file != "" {
			files = append(files, file.(string))
		}
		return true
	})
	d.files.Follow(files)
}
