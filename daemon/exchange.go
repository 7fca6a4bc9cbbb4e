package daemon

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// swapPatience is how long a reload waits for plugins that are exchanged. What
// is slower goes on by itself, and the old one works until then.
const swapPatience = 5 * time.Second

// digest sums up all that a plugin's process is given: its block, and the
// sandbox block when it is granted that.
func digest(cfg *config.Config, b config.Plugin) string {
	if !slices.Contains(b.Grants, sdk.GrantSandbox) {
		return b.Digest
	}
	return fmt.Sprintf("%s %+v", b.Digest, *inspect.SandboxOf(cfg))
}

// outcome is what a reload has to say about one plugin.
type outcome struct {
	text    string
	refused bool // the plugin does not run with its new block
}

// apply makes the plugins be what the configuration says: what is gone ends,
// what is new starts, what changed is exchanged, and the rest is left alone. It
// returns what went wrong, as far as it is known in time.
func (p *plugins) apply(ctx context.Context, cfg *config.Config) []outcome {
	p.changing.Lock()
	fresh, swap := p.decide(cfg)
	p.changing.Unlock()

	said := &hearing{}
	var begun sync.WaitGroup
	if len(fresh) > 0 {
		begun.Go(func() {
			found := p.host.Start(ctx, fresh)
			p.report(found)
			for n, text := range p.texts(found) {
				said.add(outcome{text, !found[n].Warning()})
			}
		})
	}
	for _, s := range swap {
		begun.Go(func() { p.exchange(ctx, cfg, s, said) })
	}
	begun.Wait()
	return said.all()
}

// hearing collects outcomes until somebody reads them.
type hearing struct {
	mu   sync.Mutex
	list []outcome
}

func (h *hearing) add(o outcome) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.list = append(h.list, o)
}

func (h *hearing) all() []outcome {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.list
}

// decide takes the configuration over and ends what is not in it any more. It
// returns what has to start and what has to be exchanged.
func (p *plugins) decide(cfg *config.Config) (fresh []inspect.Spec, swap []config.Plugin) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cfg = cfg
	kept := map[string]bool{}
	decide := func(b config.Plugin, atOnce bool) {
		d := digest(cfg, b)
		switch {
		case !b.Enabled || kept[b.Label]:
			return // a second block of one label never ran
		case p.runs[b.Label] == "" && !atOnce:
			return // a provider or a skill that nobody asked for yet
		case p.runs[b.Label] == "":
			fresh = append(fresh, inspect.SpecOf(cfg, b))
			p.runs[b.Label], p.wanted[b.Label] = d, d
		case p.runs[b.Label] == d && p.wanted[b.Label] == d && p.host.Broken(b.Label):
			swap = append(swap, b) // what it lacked may be there by now
		case p.runs[b.Label] == d && p.wanted[b.Label] == d && !p.host.Refresh(inspect.SpecOf(cfg, b)):
			swap = append(swap, b) // bothy.lock says something else of it now
		case p.runs[b.Label] == d && p.wanted[b.Label] == d:
			p.problems.mended(refusal(b.Label))
		case p.wanted[b.Label] == d: // it is being exchanged
		default:
			swap = append(swap, b)
			p.wanted[b.Label] = d
		}
		kept[b.Label] = true
	}
	for _, b := range cfg.Plugins {
		decide(b, !b.OnUse)
	}
	for _, b := range cfg.Providers {
		decide(b, false)
	}
	for label := range p.runs {
		if kept[label] {
			continue
		}
		_ = p.host.Remove(label) // one that was never there is gone as well
		delete(p.runs, label)
		delete(p.wanted, label)
		delete(p.begun, label)
		p.problems.mended(refusal(label))
	}
	return fresh, swap
}

// refusal is what problems are about when a block is not taken.
type refusal string

// exchange gives a plugin its new block. It returns when that is decided, or
// the patience is over.
func (p *plugins) exchange(ctx context.Context, cfg *config.Config, b config.Plugin, said *hearing) {
	decided := make(chan struct{})
	p.swaps.Go(func() {
		defer close(decided)
		a, err := p.host.Replace(context.WithoutCancel(ctx), inspect.SpecOf(cfg, b))
		if err == nil {
			p.exchanged(b.Label, digest(cfg, b), a, said)
		} // else a newer block came, or the end
	})
	patience := time.NewTimer(swapPatience)
	defer patience.Stop()
	select {
	case <-decided:
	case <-patience.C:
		said.add(outcome{text: fmt.Sprintf("plugin %s is still being started with its new block; until it is ready the old one works, and `bothy status` shows what went wrong", b.Label)})
	case <-ctx.Done():
	}
}

// exchanged keeps what an exchange came to.
func (p *plugins) exchanged(label, digest string, a host.Replaced, said *hearing) {
	texts := p.texts(a.Diagnostics)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.wanted[label] != digest { // a newer block came
		if _, there := p.runs[label]; there && a.Switched() {
			p.runs[label] = digest // should the newer one not be had, this one stays
		}
		return
	}
	for n, text := range texts {
		said.add(outcome{text, !a.Diagnostics[n].Warning()})
	}
	if a.Switched() {
		p.runs[label] = digest
		p.problems.mended(refusal(label)) // what is wrong with the new one was told by the host
		return
	}
	p.wanted[label] = p.runs[label] // so that the next reload tries again
	note := fmt.Sprintf("plugin %s keeps running with the block that it had", label)
	said.add(outcome{note, true})
	p.problems.replace(refusal(label), append(texts, note))
}
