package daemon

import (
	"time"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/dialect"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/hook"
	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/daemon/internal/view"
	"github.com/bothyd/bothy/sdk"
)

// described are the plugins with hooks, as far as they were described yet.
func (d *Daemon) described() []hook.Subscriber {
	var out []hook.Subscriber
	for _, h := range d.host.Hooks() {
		out = append(out, hook.Subscriber{Name: h.Instance, Hook: h})
	}
	return out
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
	for _, text := range d.problems.replace(hookProblem(instance), []string{"plugin " + instance + " does not hear all that it subscribes to: " + err.Error()}) {
		d.log.Warn(text)
	}
}

// newEngine gives an engine its parts.
func newEngine(d *Daemon, chains *hook.Chains) (*engine.Engine, error) {
	d.own = d.ownTools()
	chains.RunCreated.On(sdk.DefaultPriority, "skills", d.copies.Fork)
	return engine.New(engine.Config{
		Store:        d.store,
		Tools:        d.host,
		Builtin:      d.own,
		Services:     d.services.Services,
		Access:       d.policy,
		Models:       d.models,
		View:         view.NewTranscript(time.Now),
		Dialect:      dialect.Tools{},
		Policy:       d.policy,
		Hooks:        chains,
		Agents:       d.cfg.Agents,
		DataDir:      d.paths.Data,
		Log:          d.log.Named("engine"),
		Instructions: project.Instructions,
		Attended:     d.clients.Attended,
		Mode:         func() sdk.Mode { return d.current().Policy.Mode },
		Expiry:       func() time.Duration { return d.current().Policy.Expiry },
		Rules:        d.rules,
		Narrow:       d.written.narrowing,
		Preview:      d.clients.Preview,
		Redacting:    func() engine.Pieces { return d.secrets.Stream() },
		Redact:       d.secrets.Redact,
		Hidden:       audit.Hidden,
		Grace:        d.cfg.Grace,
		Frozen:       d.store.Health() != nil,
	})
}
