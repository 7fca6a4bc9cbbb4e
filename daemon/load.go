package daemon

import (
	"context"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// ReloadPlugin implements server.Daemon.
func (d *Daemon) ReloadPlugin(ctx context.Context, p rpc.PluginReload) (rpc.PluginReloaded, error) {
	return d.plugins.load(ctx, p.Instance, p.Force)
}

// load brings one plugin to what its file and its block in force are now. One
// that is broken is tried again, and one that nobody asked for yet is started.
// The error is not_found for a label that no block has, validation for a block
// that is switched off, conflict when a newer block came meanwhile; aborted when
// ctx ended, and the exchange goes on all the same.
func (p *plugins) load(ctx context.Context, instance string, force bool) (rpc.PluginReloaded, error) {
	said := &hearing{}
	decide, err := p.begins(ctx, instance, force, said)
	if err != nil {
		return rpc.PluginReloaded{}, err
	}
	type end struct {
		host.Replaced
		err error
	}
	decided := make(chan end, 1)
	p.swaps.Go(func() {
		a, err := decide()
		decided <- end{a, err}
	})
	select {
	case e := <-decided:
		out := rpc.PluginReloaded{Instance: instance, How: string(e.How), Digest: e.Digest, Generation: e.Generation}
		for _, o := range said.all() {
			out.Diagnostics = append(out.Diagnostics, o.diagnostic())
		}
		return out, e.err
	case <-ctx.Done():
		return rpc.PluginReloaded{}, sdk.Errorf(sdk.Aborted, "nobody waits for the plugin %s any more, which is loaded all the same; `bothy plugins` shows what became of it", instance)
	}
}

// begins asks for a plugin to be loaded while no other block can come in between;
// decide waits until it is.
func (p *plugins) begins(ctx context.Context, instance string, force bool, said *hearing) (decide func() (host.Replaced, error), err error) {
	p.changing.RLock()
	defer p.changing.RUnlock()
	cfg := p.config()
	b, ok := p.block(cfg, instance)
	switch {
	case !ok:
		return nil, sdk.Errorf(sdk.NotFound, "no plugin and no provider is called %q; there are: %s", instance, strings.Join(blockNames(cfg), ", "))
	case !b.Enabled:
		return nil, sdk.Errorf(sdk.Validation, "%s is switched off in the configuration (enabled = false)", instance)
	case !p.isBegun(instance):
		a := p.first(ctx, cfg, b, said)
		return func() (host.Replaced, error) { return a, nil }, nil
	}
	d := digest(cfg, b)
	p.want(instance, d)
	x, err := p.host.Ask(inspect.SpecOf(cfg, b), force)
	if err != nil {
		return nil, err
	}
	return func() (host.Replaced, error) {
		a, err := x.Wait(context.WithoutCancel(ctx))
		if err == nil {
			p.exchanged(instance, d, a, said)
		}
		return a, err
	}, nil
}

// first starts what waited for its first use.
func (p *plugins) first(ctx context.Context, cfg *config.Config, b config.Plugin, said *hearing) host.Replaced {
	a := host.Replaced{How: host.Started}
	p.once(b.Label).Do(func() {
		a.Diagnostics = p.host.Start(context.WithoutCancel(ctx), []inspect.Spec{inspect.SpecOf(cfg, b)})
		p.report(a.Diagnostics)
		p.runsWith(b.Label, digest(cfg, b))
	})
	for n, text := range p.texts(a.Diagnostics) {
		said.add(outcome{text, !a.Diagnostics[n].Warning()})
	}
	a.Digest, a.Generation = p.host.Serving(b.Label)
	return a
}

// want notes which block a plugin is to run with.
func (p *plugins) want(instance, digest string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.wanted[instance] = digest
}

// block is the plugin or provider of a label, the first as everywhere.
func (p *plugins) block(cfg *config.Config, label string) (config.Plugin, bool) {
	if b, ok := labelled(cfg.Plugins, label); ok {
		return b, true
	}
	return labelled(cfg.Providers, label)
}

func blockNames(cfg *config.Config) []string {
	var names []string
	for _, b := range slices.Concat(cfg.Plugins, cfg.Providers) {
		if !slices.Contains(names, b.Label) {
			names = append(names, b.Label)
		}
	}
	slices.Sort(names)
	return names
}

// diagnostic is the outcome as clients get it.
func (o outcome) diagnostic() rpc.Diagnostic {
	severity := "warning"
	if o.refused {
		severity = "error"
	}
	return rpc.Diagnostic{Severity: severity, Text: o.text}
}
