package daemon

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/sdk"
)

// plugins starts what the configuration names: plugin blocks at once and at
// the same time, provider blocks when one of their models is asked for.
type plugins struct {
	cfg      *config.Config
	host     *host.Supervisor
	diagnose func(host.Diagnostic)
	redact   func(string) string

	mu    sync.Mutex
	begun map[string]*sync.Once // by instance; a provider is started once
}

func newPlugins(cfg *config.Config, h *host.Supervisor, diagnose func(host.Diagnostic), redact func(string) string) *plugins {
	return &plugins{cfg: cfg, host: h, diagnose: diagnose, redact: redact, begun: map[string]*sync.Once{}}
}

func (p *plugins) start(ctx context.Context) {
	var specs []host.Spec
	for _, block := range p.cfg.Plugins {
		if block.Enabled {
			specs = append(specs, p.spec(block))
		}
	}
	p.report(p.host.Start(ctx, specs))
}

// Ensure starts a provider's plugin when it does not run yet.
func (p *plugins) Ensure(ctx context.Context, instance string) error {
	for _, block := range p.cfg.Providers {
		if block.Label != instance {
			continue
		}
		if !block.Enabled {
			return misconfigured(fmt.Sprintf("provider %s is switched off in the configuration (enabled = false)", instance))
		}
		p.once(instance).Do(func() {
			p.report(p.host.Start(context.WithoutCancel(ctx), []host.Spec{p.spec(block)}))
		})
		return nil
	}
	return misconfigured(fmt.Sprintf("there is no provider %q; `bothy models` lists what there is", instance))
}

// Models lists what a provider that Ensure started offers.
func (p *plugins) Models(ctx context.Context, instance string) ([]sdk.Model, error) {
	list, err := p.host.Models(ctx, instance)
	return list, p.placed(err)
}

// Complete asks a provider that Ensure started.
func (p *plugins) Complete(ctx context.Context, instance string, req sdk.Request, send func(sdk.Delta) error, onRetry func(host.Retry) error) error {
	return p.placed(p.host.Complete(ctx, instance, req, send, onRetry))
}

// placed names file and line of what keeps a plugin from starting, as `status`
// shows it. Any other error stays as it is.
func (p *plugins) placed(err error) error {
	var refused *host.Unstartable
	if !errors.As(err, &refused) {
		return err
	}
	var text []string
	for _, d := range refused.Diagnostics {
		text = append(text, config.At(d.Diagnostic, p.cfg.Files).Error())
	}
	return misconfigured(p.redact(strings.Join(text, "\n")))
}

// misconfigured is an error that a person mends in the configuration.
func misconfigured(text string) error {
	return &sdk.Error{Outcome: sdk.Validation, Message: text, Cause: engine.ErrConfig}
}

func (p *plugins) once(instance string) *sync.Once {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.begun[instance] == nil {
		p.begun[instance] = &sync.Once{}
	}
	return p.begun[instance]
}

func (p *plugins) report(found []host.Diagnostic) {
	for _, d := range found {
		p.diagnose(d)
	}
}

func (p *plugins) spec(b config.Plugin) host.Spec {
	return host.Spec{
		Instance: b.Label, Plugin: b.Binary, Path: b.Path, Args: b.Args, Env: b.Env,
		Grants: b.Grants, Secrets: b.Secrets, SHA256: b.SHA256, Body: b.Body, Eval: p.cfg.Context, Source: b.Range,
	}
}
