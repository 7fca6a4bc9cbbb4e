package daemon

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/daemon/internal/opening"
	"github.com/bothyd/bothy/daemon/internal/server"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/channel"
)

// startPlugins starts what the configuration names, and subscribes the plugins to
// the hooks that they ask for.
func (d *Daemon) startPlugins(ctx context.Context, g ground) (h hosted, err error) {
	h.Servers, h.current = d.servers, d.current
	described := func() (out []hook.Subscriber) {
		for _, x := range h.Hooks() {
			out = append(out, hook.Subscriber{Name: x.Instance, Hook: x})
		}
		return out
	}
	subscribers := hook.NewSubscribers(g.hooks, described, d.subscribed)
	h.Supervisor, err = host.New(host.Config{
		Config:    inspection(d.paths, d.log.Named("host"), d.secrets),
		SocketDir: d.paths.Sockets,
		Prefix:    d.paths.Prefix,
		Services:  g.services, ChannelDir: filepath.Join(d.paths.Data, "channels"),
		Lend: func(l host.Loan) (channel.Access, func()) {
			token, end := g.channels.Grant(server.Loan(l))
			d.secrets.Add(token) // nothing that the daemon writes has the token in it
			return channel.Access{Socket: g.listener.Path(), Token: token, Projects: l.Projects}, end
		},
		Text:     d.pluginText,
		Diagnose: d.diagnose,
		Mended:   func(x inspect.Diagnostic) { d.problems.mended(x.Diagnostic) },
		Register: g.store.RegisterScheme,
		Refused:  func(instance, detail string) { g.security.Raise(audit.EventRefusedCallback, d.secrets.Redact(detail)) },
		Changed: func() {
			h.Tools() // what drifted is told when it is there, and not when it is called
			subscribers.Update()
			g.clients.ToolsChanged()
		},
	})
	if err != nil {
		return h, err
	}
	d.parts.add("plugins", func() error {
		ctx, cancel := context.WithTimeout(d.hurried, pluginTime)
		defer cancel()
		h.Stop(ctx)
		return nil
	})
	g.hooks.Owns = h.HasScheme
	h.Apply(ctx, inspect.Blocks(d.cfg))
	subscribers.Begin()
	return h, nil
}

// hookProblem is what problems are about when a subscription of a plugin is wrong.
type hookProblem string

// subscribed tells once that a subscription of a plugin is wrong; nil is that none
// is any more.
func (d *Daemon) subscribed(instance string, err error) {
	if err == nil {
		d.problems.mended(hookProblem(instance))
		return
	}
	for _, text := range d.problems.replace(hookProblem(instance), []problem{{text: "plugin " + instance + " does not hear all that it subscribes to: " + err.Error()}}) {
		d.log.Warn(text)
	}
}

// plugins are the plugins as models and skills use them: the error of one that
// cannot start is the configuration's, with file and line.
type plugins struct{ hosted }

// Ensure implements model.Host.
func (p plugins) Ensure(ctx context.Context, instance string) error {
	err := p.Supervisor.Ensure(ctx, instance)
	switch sdk.OutcomeOf(err) {
	case sdk.NotFound, sdk.Validation:
		return misconfigured(err.Error())
	}
	return err
}

// Models implements model.Host.
func (p plugins) Models(ctx context.Context, instance string) ([]sdk.Model, error) {
	list, err := p.Supervisor.Models(ctx, instance)
	return list, placed(err)
}

// Pull implements model.Host.
func (p plugins) Pull(ctx context.Context, instance, model string, progress func(sdk.PullProgress)) error {
	return placed(p.Supervisor.Pull(ctx, instance, model, progress))
}

// Complete implements model.Host.
func (p plugins) Complete(ctx context.Context, instance string, req sdk.Request, send func(sdk.Delta) error) error {
	return placed(p.Supervisor.Complete(ctx, instance, req, send))
}

// modelProblem is what problems are about when a model of the configuration is not
// there.
type modelProblem string

// gaveWay tells once that another model is taken for one of the configuration. An
// empty text is that none is any more.
func (d *Daemon) gaveWay(name, text string) {
	var now []problem
	if text != "" {
		now = []problem{{text: d.secrets.Redact(text)}}
	}
	for _, text := range d.problems.replace(modelProblem(name), now) {
		d.log.Warn(text)
	}
}

// Execute executes a code skill; see host.Supervisor.Execute for its errors.
func (p plugins) Execute(ctx context.Context, instance string, call sdk.SkillCall, out sdk.Stream) (sdk.ToolResult, error) {
	r, err := p.Supervisor.Execute(ctx, instance, call, out)
	return r, placed(err)
}

// placed names file and line of what keeps a plugin from starting, as `status`
// shows it. Any other error stays as it is.
func placed(err error) error {
	var refused *host.Unstartable
	if !errors.As(err, &refused) {
		return err
	}
	return misconfigured(refused.Text)
}

// misconfigured is an error that a person mends in the configuration.
func misconfigured(text string) error {
	return &sdk.Error{Outcome: sdk.Validation, Message: text, Cause: engine.ErrConfig}
}

// unopened says of a failure that a plugin tells which file in it its block does not open.
func (d *Daemon) unopened(label, text string) string {
	return opening.Missed(d.current(), label, text, filepath.Join(d.paths.Data, "confined", label), d.paths.Plugins, d.paths.Libexec, d.paths.Sockets)
}

// pluginText writes a diagnostic of a plugin for people. One without a place says
// all that there is to say in its summary.
func (d *Daemon) pluginText(x inspect.Diagnostic) string {
	text := x.Summary
	if x.Subject != nil || x.Detail != "" {
		text = config.FromHCL(d.current().Files, x.Diagnostic).Error()
	}
	if why := d.unopened(x.Instance, x.Summary+" "+x.Detail); why != "" {
		text += ". " + why + "."
	}
	return d.secrets.Redact(text)
}
