// Package model says which model answers a prompt and asks it. What there is
// comes from the blocks of the configuration and from the providers' own lists,
// which are kept for a while; whether a local server is up is asked each time.
package model

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// Host is what the choice of a model needs of the providers' plugins.
type Host interface {
	// Ensure starts the instance if it does not run, and says why it cannot.
	Ensure(ctx context.Context, instance string) error
	// State is what the instance is in now. It is another text after the process
	// was replaced or configured anew; "" when it was never started.
	State(instance string) string
	Models(ctx context.Context, instance string) ([]sdk.Model, error)
	// Pull gets a model onto the server of a provider, until ctx ends.
	Pull(ctx context.Context, instance, model string, progress func(sdk.PullProgress)) error
	Complete(ctx context.Context, instance string, req sdk.Request, send func(sdk.Delta) error) error
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
	gaveWay func(name, text string)
	dial    func(ctx context.Context, address string) error // nil dials for real
	cfg     atomic.Pointer[config.Config]
	kept    kept

	// installed finds a program; it is exec.LookPath but in tests.
	installed func(program string) (string, error)

	mu      sync.Mutex
	told    map[string]bool // the names of which gaveWay was told
	waiting []string        // see waits
}

// New makes the models of a configuration. No model is told what secrets knows.
// gaveWay is told which name of the configuration another model is taken for, and
// why; an empty text says that the name holds again, or is gone.
func New(cfg *config.Config, host Host, secrets Redactor, gaveWay func(name, text string)) *Models {
	m := &Models{host: host, secrets: secrets, gaveWay: gaveWay, installed: exec.LookPath}
	m.Configure(cfg)
	return m
}

// Configure takes another configuration. A completion that runs keeps the one it
// began with.
func (m *Models) Configure(cfg *config.Config) {
	m.cfg.Store(cfg)
	m.kept.noSilence()
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.told {
		m.gaveWay(name, "")
	}
	m.told = map[string]bool{}
}

// Resolve finds the model of a name that a person, a run or a plugin gave: a model
// block's label, or provider/name. It is never replaced by another: one that
// nothing has, or that its local server does not list, is not_found. The empty name
// is the daemon's choice (ADR 0004).
func (m *Models) Resolve(ctx context.Context, name string) (sdk.ModelChoice, error) {
	return m.resolve(ctx, name, false)
}

// ResolveConfigured is Resolve for a name that the configuration has for all
// prompts. When its local server answers and does not have it, another model of
// that server is taken (Instead of the choice).
func (m *Models) ResolveConfigured(ctx context.Context, name string) (sdk.ModelChoice, error) {
	return m.resolve(ctx, name, true)
}

func (m *Models) resolve(ctx context.Context, name string, configured bool) (sdk.ModelChoice, error) {
	r := m.now()
	c, err := r.resolve(ctx, name, configured)
	m.tell(c)
	if err == nil {
		r.bound(&c)
		if m.kept.isBlind(c.Provider, c.Name) {
			c.Inputs = onlyText
		}
	}
	return c, err
}

// Look is what Resolve would take, or ResolveConfigured; it starts no server, and an
// error says where one of those would.
func (m *Models) Look(ctx context.Context, name string, configured bool) (sdk.ModelChoice, error) {
	return m.onlyLooks().resolve(ctx, name, configured)
}

// tell tells gaveWay what became of a name of the configuration.
func (m *Models) tell(c sdk.ModelChoice) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c.Instead != "" {
		m.told[c.Instead] = true
		m.gaveWay(c.Instead, c.Why)
		return
	}
	full := c.Provider + "/" + c.Name
	for _, name := range []string{full, strings.TrimSuffix(full, ":latest")} {
		if m.told[name] {
			delete(m.told, name)
			m.gaveWay(name, "")
		}
	}
}

// Complete asks the model of an alias that Resolve returned. The provider is
// started when it does not run yet. What a retry can help is tried again, never once a
// piece was streamed; retry, which may be nil, is told before each wait.
func (m *Models) Complete(ctx context.Context, alias string, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
	instance, name, _ := strings.Cut(alias, "/")
	for _, b := range m.cfg.Load().Models {
		if b.Alias == alias {
			instance, name = b.Provider, b.Name
			if req.MaxTokens == 0 {
				req.MaxTokens = b.MaxTokens
			}
			req.Reasoning = cmp.Or(req.Reasoning, b.Reasoning)
		}
	}
	r := m.now()
	if p, ok := r.provider(instance); ok && r.starts(ctx, p) {
		started := sync.OnceFunc(m.waits(startsOllama))
		defer started()
		answer := send
		send = func(d sdk.Delta) error {
			started()
			return answer(d)
		}
	}
	if err := m.host.Ensure(ctx, instance); err != nil {
		return err
	}
	// Behind Ensure, which may have told of the provider's own key.
	req = redact(m.secrets, req)
	err := newRetrier().do(ctx, retry, func() error { return m.host.Complete(ctx, instance, req, send) })
	err = r.blind(instance, name, req, err)
	return r.explain(ctx, instance, name, err)
}

// explain names the models that would do when one is not there, or cannot call
// tools; any other error stays as it is.
func (r resolver) explain(ctx context.Context, instance, name string, err error) error {
	var e *sdk.ProviderError
	if !errors.As(err, &e) || !e.NoTools && e.Status != http.StatusNotFound {
		return err
	}
	p, ok := r.provider(instance)
	if !ok {
		return err
	}
	var has bool
	list, listErr := r.look(ctx, p, func(list []sdk.Model) bool {
		_, has = find(list, name)
		return has
	})
	said := *e
	switch {
	case e.NoTools:
		said.Message = cannotCall(instance, name, list)
	case listErr == nil && !has && len(list) > 0:
		said.Message += "; " + others(instance, name, list)
	}
	return &said
}
