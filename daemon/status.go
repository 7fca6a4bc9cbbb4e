package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
	processes "github.com/bothyd/bothy/daemon/internal/process"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sandbox/toolchain"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Status implements server.Daemon.
func (d *Daemon) Status(ctx context.Context) (rpc.Status, error) {
	running, queued, err := d.loops(ctx)
	if err != nil {
		return rpc.Status{}, err
	}
	skills, err := d.answers.State(ctx)
	if err != nil {
		return rpc.Status{}, err
	}
	problems := d.problems.texts()
	for _, err := range []error{d.refusal(), d.runlogs.Trouble()} {
		if err != nil {
			problems = append(problems, d.secrets.Redact(err.Error()))
		}
	}
	for _, text := range []string{d.log.Trouble(), d.binary.changed()} {
		if text != "" {
			problems = append(problems, text)
		}
	}
	return rpc.Status{
		Version: sdk.Version, Protocol: rpc.Protocol, PID: os.Getpid(), Started: d.started,
		Socket: d.paths.Socket, Web: d.listener.Web(), Database: d.paths.Store, Log: d.paths.Log,
		Seq: d.store.Seq(), RSS: processes.Resident(os.Getpid()), Running: running, Queued: queued,
		Plugins: d.Plugins(), Problems: problems, Waiting: d.models.Waiting(),
		Config: d.configFile(), Polling: d.files.Polling(), Stopping: d.stopping.Err() != nil, Skills: skills,
		HomeTools: homeTools(d.current()),
	}, nil
}

// homeTools names what of this user's home commands in the sandbox have: nothing in an
// image of the user's own choice, or in private workspaces.
func homeTools(cfg *config.Config) []string {
	home, err := os.UserHomeDir()
	if err != nil || cfg.Sandbox.Image != "" || cfg.Sandbox.Workspace == sdk.WorkspacePrivate {
		return nil
	}
	return toolchain.Find(home, nil, func(string) bool { return false }).Names
}

// refusing is the store's alarm, which has logged why. A disk that failed ends the
// daemon: the next one opens the file anew.
func (d *Daemon) refusing(err error) {
	now := time.Now()
	d.refused.Store(&now)
	if errors.Is(err, store.ErrFailed) {
		d.stop()
	}
}

// lost is why the daemon cannot go on: the disk of the store failed.
func (d *Daemon) lost() error {
	if err := d.store.Health(); errors.Is(err, store.ErrFailed) {
		return fmt.Errorf("the store was lost: %w; what was at work is taken up at the next start", err)
	}
	return nil
}

// refusal is why the store takes no writes and since when; nil when it does.
func (d *Daemon) refusal() error {
	err := d.store.Refused()
	if since := d.refused.Load(); err != nil && since != nil {
		return fmt.Errorf("writes are refused since %s: %w", since.Format(time.DateTime), err)
	}
	return err
}

// loops counts the loops at work and those that wait.
func (d *Daemon) loops(ctx context.Context) (running, queued int, err error) {
	runs, err := d.store.Queued(ctx)
	if err != nil {
		return 0, 0, err
	}
	for _, run := range runs {
		loops, err := d.store.Loops(ctx, run)
		if err != nil {
			return 0, 0, err
		}
		for _, l := range loops {
			switch l.Status {
			case sdk.StatusQueued:
				queued++
			case sdk.StatusRunning:
				running++
			}
		}
	}
	return running, queued, nil
}

// Tools implements server.Daemon: the plugins' tools, then the daemon's own as
// they are without a project.
func (d *Daemon) Tools() []sdk.Tool { return append(d.host.Tools(), d.own.Offered(d.stopping)...) }

// Plugins implements server.Daemon: what runs, then the code skills, the servers of MCP
// and the providers that nobody asked for yet.
func (d *Daemon) Plugins() []rpc.Plugin {
	var out []rpc.Plugin
	seen := map[string]bool{}
	d.host.Tools() // judges servers by the lock as it is now
	for _, p := range d.host.Plugins() {
		seen[p.Instance] = true
		d.servers.Vouch(&p)
		p.Path, p.Error, p.Detail = d.secrets.Redact(p.Path), d.secrets.Redact(p.Error), d.secrets.Redact(p.Detail)
		out = append(out, p)
	}
	cfg := d.current()
	for _, p := range cfg.Plugins {
		if p.Enabled && p.OnUse && !seen[p.Label] {
			kind := "skill"
			if strings.HasPrefix(p.Label, sdk.MCPPrefix) {
				kind = "tool"
			}
			out = append(out, rpc.Plugin{Instance: p.Label, Plugin: p.Binary, Kinds: []string{kind}, State: "stopped"})
		}
	}
	for _, p := range cfg.Providers {
		if p.Enabled && !seen[p.Label] {
			out = append(out, rpc.Plugin{Instance: p.Label, Plugin: p.Binary, Kinds: []string{"provider"}, State: "stopped"})
		}
	}
	return out
}

// Settings implements server.Daemon.
func (d *Daemon) Settings() []rpc.Setting {
	var out []rpc.Setting
	for _, v := range d.current().Values {
		out = append(out, rpc.Setting{Name: v.Key, Value: v.Value, Source: v.Source})
	}
	return out
}

// ReloadPlugin implements server.Daemon.
func (d *Daemon) ReloadPlugin(ctx context.Context, p rpc.PluginReload) (rpc.PluginReloaded, error) {
	return d.host.Reload(ctx, p)
}

// DevPlugin implements server.Daemon.
func (d *Daemon) DevPlugin(ctx context.Context, p rpc.PluginDev, attached func(rpc.PluginAttached)) (rpc.PluginDetached, error) {
	return d.host.Dev(ctx, d.stopping, p, attached)
}

// Stop implements server.Daemon.
func (d *Daemon) Stop(now bool) {
	if now {
		d.Hurry()
	}
	d.stop()
}
