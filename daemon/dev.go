package daemon

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// DevPlugin implements server.Daemon: the process that a plugin's author runs
// takes the place of the instance of that name, with the settings of its block,
// until it has gone or nobody asks for it any more.
func (d *Daemon) DevPlugin(ctx context.Context, p rpc.PluginDev, attached func(rpc.PluginAttached)) (rpc.PluginDetached, error) {
	return d.plugins.dev(ctx, d.stopping, p, attached)
}

func (p *plugins) dev(ctx, stopping context.Context, d rpc.PluginDev, attached func(rpc.PluginAttached)) (rpc.PluginDetached, error) {
	if !p.lend(d) {
		return rpc.PluginDetached{}, sdk.Errorf(sdk.Conflict, "another process is attached as %s: end its `bothy plugins dev` first", d.Instance)
	}
	defer p.unlend(d)
	spec, configured := p.devSpec(d)
	before := p.host.Has(d.Instance)
	gone, found, err := p.host.Attach(ctx, spec)
	defer p.restore(stopping, d.Instance, before)
	if err != nil {
		for _, text := range p.texts(found) {
			err = fmt.Errorf("%w: %s", err, text)
		}
		return rpc.PluginDetached{}, err
	}
	attached(p.lent(d.Instance, !configured, p.texts(found)))
	reason := ""
	select {
	case <-gone:
		reason = "its process has ended, or something took its place"
	case <-ctx.Done():
		reason = "nobody asks for it any more"
	case <-stopping.Done():
		reason = "the daemon stops"
	}
	return rpc.PluginDetached{Instance: d.Instance, Reason: reason}, nil
}

// devSpec is what the block of the instance says, with the process; it reports
// whether there is a block.
func (p *plugins) devSpec(d rpc.PluginDev) (inspect.Spec, bool) {
	cfg := p.config()
	block, there := blockOf(cfg, d.Instance)
	spec := inspect.Spec{Instance: d.Instance, Plugin: d.Instance}
	if there {
		spec = inspect.SpecOf(cfg, block)
	}
	spec.SHA256, spec.Locked = "", nil // its author changes it as they please
	spec.Foreign = &inspect.Foreign{Path: d.Path, Address: d.Address, PID: d.PID}
	return spec, there
}

// blockOf is the enabled block of a label, of either kind.
func blockOf(cfg *config.Config, label string) (config.Plugin, bool) {
	for _, blocks := range [][]config.Plugin{cfg.Plugins, cfg.Providers} {
		if b, ok := labelled(blocks, label); ok && b.Enabled {
			return b, true
		}
	}
	return config.Plugin{}, false
}

// lent describes the instance for who asked.
func (p *plugins) lent(instance string, added bool, notes []string) rpc.PluginAttached {
	a := rpc.PluginAttached{Instance: instance, Added: added, Kinds: []string{}, Tools: []string{}, Notes: append([]string{}, notes...)}
	for _, s := range p.host.Plugins() {
		if s.Instance == instance {
			a.Kinds, a.Tools = append(a.Kinds, s.Kinds...), append(a.Tools, s.Tools...)
		}
	}
	return a
}

// restore makes the instance again what its block says now, or removes one that
// did not run before.
func (p *plugins) restore(stopping context.Context, instance string, before bool) {
	if stopping.Err() != nil {
		return
	}
	cfg := p.config()
	block, there := blockOf(cfg, instance)
	if !before || !there {
		_ = p.host.Remove(instance) // gone already, perhaps
		return
	}
	d := digest(cfg, block)
	p.want(instance, d) // what was asked for before the process came is not tried any more
	a, err := p.host.Replace(stopping, inspect.SpecOf(cfg, block))
	if err == nil {
		p.exchanged(instance, d, a, &hearing{})
	} // else a newer block came, or the end
}

// lend notes that a process is used for an instance; false when another is.
func (p *plugins) lend(d rpc.PluginDev) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.foreign[d.Instance] {
		return false
	}
	p.foreign[d.Instance] = true
	return true
}

func (p *plugins) unlend(d rpc.PluginDev) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.foreign, d.Instance)
}
