// Package model says which model answers a prompt and asks it. What there is
// comes from the blocks of the configuration and from the providers' own lists;
// whether a local server is up is asked each time.
package model

import (
	"context"
	"encoding/json"
	"strings"
	"sync/atomic"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// Host is what the choice of a model needs of the providers' plugins.
type Host interface {
	// Ensure starts the instance if it does not run, and says why it cannot.
	Ensure(ctx context.Context, instance string) error
	Models(ctx context.Context, instance string) ([]sdk.Model, error)
	Complete(ctx context.Context, instance string, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error
}

// Redactor takes secrets out of what goes to a model.
type Redactor interface {
	Redact(text string) string
	Text(text string) string // which may be JSON, and stays so
	JSON(raw json.RawMessage) json.RawMessage
}

// Models resolves names of models and asks them. It is made by New and may be
// used by several at a time, also while it is configured.
type Models struct {
	host    Host
	secrets Redactor
	dial    func(ctx context.Context, address string) error // nil dials for real
	cfg     atomic.Pointer[config.Config]
}

// New makes the models of a configuration. No model is told what secrets knows.
func New(cfg *config.Config, host Host, secrets Redactor) *Models {
	m := &Models{host: host, secrets: secrets}
	m.Configure(cfg)
	return m
}

// Configure takes another configuration. A completion that runs keeps the one it
// began with.
func (m *Models) Configure(cfg *config.Config) { m.cfg.Store(cfg) }

// Resolve finds the model of a name: a model block's label, or provider/name.
// The empty name is the daemon's choice (ADR 0004). A name that nothing has is
// not_found.
func (m *Models) Resolve(ctx context.Context, name string) (sdk.ModelChoice, error) {
	return m.now().resolve(ctx, name)
}

// Complete asks the model of an alias that Resolve returned. The provider is
// started when it does not run yet, and the host retries what a retry can help.
func (m *Models) Complete(ctx context.Context, alias string, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
	instance, _, _ := strings.Cut(alias, "/")
	for _, b := range m.cfg.Load().Models {
		if b.Alias == alias {
			instance = b.Provider
			if req.MaxTokens == 0 {
				req.MaxTokens = b.MaxTokens
			}
		}
	}
	if err := m.host.Ensure(ctx, instance); err != nil {
		return err
	}
	// Behind Ensure, which may have told of the provider's own key.
	return m.host.Complete(ctx, instance, redact(m.secrets, req), send, retry)
}

// resolver is the models with the configuration that one question is answered by.
type resolver struct {
	*Models
	cfg *config.Config
}

func (m *Models) now() resolver { return resolver{m, m.cfg.Load()} }
