package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

// plugins starts what the configuration names: plugin blocks at once and at
// the same time, provider blocks when one of their models is asked for, and
// plugin blocks with on_use when a skill of them is. When
// the configuration changes it exchanges what changed (exchange.go).
type plugins struct {
	host     *host.Supervisor
	diagnose func(inspect.Diagnostic)
	problems *problems
	redact   func(string) string

	// changing is held while it is decided what has to run, and shared while
	// something is started for its first use, so that nothing is started from a block that is gone.
	changing sync.RWMutex

	mu      sync.Mutex // guards what follows
	cfg     *config.Config
	begun   map[string]*sync.Once // by instance; what waits for its use is started once
	runs    map[string]string     // the digest of the block with which each instance runs
	wanted  map[string]string     // the digest that is being tried, or runs
	swaps   sync.WaitGroup        // exchanges under way
	foreign map[string]bool       // instances for which a process of its author is used
}

func newPlugins(cfg *config.Config, h *host.Supervisor, diagnose func(inspect.Diagnostic), problems *problems, redact func(string) string) *plugins {
	return &plugins{
		cfg: cfg, host: h, diagnose: diagnose, problems: problems, redact: redact,
		begun: map[string]*sync.Once{}, runs: map[string]string{}, wanted: map[string]string{}, foreign: map[string]bool{},
	}
}

func (p *plugins) start(ctx context.Context) {
	var specs []inspect.Spec
	cfg := p.config()
	for _, block := range cfg.Plugins {
		if block.Enabled && !block.OnUse {
			specs = append(specs, inspect.SpecOf(cfg, block))
			p.runsWith(block.Label, digest(cfg, block))
		}
	}
	p.report(p.host.Start(ctx, specs))
}

// Ensure starts a provider's plugin when it does not run yet.
func (p *plugins) Ensure(ctx context.Context, instance string) error {
	if block, ok := provider(p.config(), instance); ok && block.Enabled && p.isBegun(instance) {
		return nil
	}
	p.changing.RLock()
	defer p.changing.RUnlock()
	cfg := p.config()
	block, ok := provider(cfg, instance)
	switch {
	case !ok:
		return misconfigured(fmt.Sprintf("there is no provider %q; `bothy models` lists what there is", instance))
	case !block.Enabled:
		return misconfigured(fmt.Sprintf("provider %s is switched off in the configuration (enabled = false)", instance))
	}
	p.begin(ctx, cfg, block)
	return nil
}

// begin starts what waited for its first use; changing is held for reading.
func (p *plugins) begin(ctx context.Context, cfg *config.Config, block config.Plugin) {
	p.once(block.Label).Do(func() {
		p.report(p.host.Start(context.WithoutCancel(ctx), []inspect.Spec{inspect.SpecOf(cfg, block)}))
		p.runsWith(block.Label, digest(cfg, block))
	})
}

// need starts what a plugin requires and what otherwise waits for its first
// use. It reports whether there is such a block.
func (p *plugins) need(name string) bool {
	block, ok := required(p.config(), name)
	if !ok {
		return false
	}
	p.swaps.Go(func() {
		p.changing.RLock()
		defer p.changing.RUnlock()
		cfg := p.config()
		if b, ok := labelled(slices.Concat(cfg.Plugins, cfg.Providers), block.Label); ok && b.Enabled && !p.isBegun(b.Label) {
			p.begin(context.Background(), cfg, b)
		}
	})
	return true
}

// required finds the block that a requirement names: by its label, else by the
// name of its plugin.
func required(cfg *config.Config, name string) (config.Plugin, bool) {
	blocks := slices.Concat(cfg.Plugins, cfg.Providers)
	if b, ok := labelled(blocks, name); ok {
		return b, b.Enabled
	}
	for _, b := range blocks {
		if b.Binary == name && b.Enabled {
			return b, true
		}
	}
	return config.Plugin{}, false
}

func provider(cfg *config.Config, label string) (config.Plugin, bool) {
	return labelled(cfg.Providers, label)
}

func labelled(blocks []config.Plugin, label string) (config.Plugin, bool) {
	for _, b := range blocks {
		if b.Label == label {
			return b, true
		}
	}
	return config.Plugin{}, false
}

// Models lists what a provider that Ensure started offers.
func (p *plugins) Models(ctx context.Context, instance string) ([]sdk.Model, error) {
	list, err := p.host.Models(ctx, instance)
	return list, p.placed(err)
}

// Complete asks a provider that Ensure started.
func (p *plugins) Complete(ctx context.Context, instance string, req sdk.Request, send func(sdk.Delta) error, onRetry func(sdk.Retry) error) error {
	return p.placed(p.host.Complete(ctx, instance, req, send, onRetry))
}

// placed names file and line of what keeps a plugin from starting, as `status`
// shows it. Any other error stays as it is.
func (p *plugins) placed(err error) error {
	var refused *host.Unstartable
	if !errors.As(err, &refused) {
		return err
	}
	return misconfigured(strings.Join(p.texts(refused.Diagnostics), "\n"))
}

// texts writes diagnostics for people.
func (p *plugins) texts(found []inspect.Diagnostic) []string {
	files := p.config().Files
	var out []string
	for _, d := range found {
		out = append(out, p.redact(config.At(d.Diagnostic, files).Error()))
	}
	return out
}

// misconfigured is an error that a person mends in the configuration.
func misconfigured(text string) error {
	return &sdk.Error{Outcome: sdk.Validation, Message: text, Cause: engine.ErrConfig}
}

func (p *plugins) config() *config.Config {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cfg
}

func (p *plugins) once(instance string) *sync.Once {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun[instance] == nil {
		p.begun[instance] = &sync.Once{}
	}
	return p.begun[instance]
}

func (p *plugins) isBegun(instance string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.runs[instance] != ""
}

func (p *plugins) runsWith(instance, digest string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs[instance], p.wanted[instance] = digest, digest
}

func (p *plugins) report(found []inspect.Diagnostic) {
	for _, d := range found {
		p.diagnose(d)
	}
}
