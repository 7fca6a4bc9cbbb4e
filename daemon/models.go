package daemon

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/bothyd/bothy/daemon/internal/audit"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/sdk"
)

// completer is what the choice of a model needs of the plugin host.
type completer interface {
	// Ensure starts the instance if it does not run, and says why it cannot.
	Ensure(ctx context.Context, instance string) error
	Models(ctx context.Context, instance string) ([]sdk.Model, error)
	Complete(ctx context.Context, instance string, req sdk.Request, send func(sdk.Delta) error, onRetry func(sdk.Retry) error) error
}

// modelTable is the models of the configuration in force; another takes its
// place when that changes. A completion that runs keeps the one it began with.
type modelTable struct{ atomic.Pointer[models] }

// Resolve implements engine.Models.
func (t *modelTable) Resolve(ctx context.Context, name string) (engine.Choice, error) {
	return t.Load().Resolve(ctx, name)
}

// Complete implements engine.Models.
func (t *modelTable) Complete(ctx context.Context, alias string, req sdk.Request, send func(sdk.Delta) error, retry func(sdk.Retry) error) error {
	return t.Load().Complete(ctx, alias, req, send, retry)
}

// models resolves the names of models. It holds no state: it is made anew when
// the configuration changes, and whether a server is up is asked each time.
type models struct {
	cfg  *config.Config
	host completer
	dial func(ctx context.Context, address string) error // nil dials for real

	secrets *audit.Redactor // what no model is told; nil tells all
}

// lookTime bounds the question whether anything listens at a local address.
const lookTime = 300 * time.Millisecond

// listTime bounds a provider's listing of its models.
const listTime = 10 * time.Second

// howToChange ends the line that says which model was taken.
const howToChange = "To take another: bothy run -m MODEL, or model = \"...\" in an agent block of ~/.config/bothy/config.hcl"

// Resolve finds the model of a name: a model block's label, or provider/name.
// The empty name is the daemon's choice (ADR 0004).
func (m *models) Resolve(ctx context.Context, name string) (engine.Choice, error) {
	if name == "" {
		return m.choose(ctx)
	}
	for _, block := range m.cfg.Models {
		if block.Alias == name {
			c := m.fromBlock(block)
			m.describeLocal(ctx, &c)
			return c, nil
		}
	}
	provider, model, ok := strings.Cut(name, "/")
	p, known := m.provider(provider)
	if !known {
		return engine.Choice{}, sdk.Errorf(sdk.NotFound, "there is no model %q: name a model block or provider/name (providers: %s); `bothy models` lists what there is", name, strings.Join(m.providerLabels(), ", "))
	}
	if !ok || model == "" {
		return m.ofProvider(ctx, p, fmt.Sprintf("provider %s was named without a model", provider))
	}
	c := engine.Choice{Alias: name, Provider: provider, Name: model}
	m.describeLocal(ctx, &c)
	return c, nil
}

func (m *models) fromBlock(b config.Model) engine.Choice {
	return engine.Choice{
		Alias: b.Alias, Provider: b.Provider, Name: b.Name, Context: b.Context,
		Temperature: b.Temperature,
	}
}

// choose takes the first model that can be had.
func (m *models) choose(ctx context.Context) (engine.Choice, error) {
	var passed string // what answered and has no model to offer
	for _, p := range m.cfg.Providers {
		if base := m.base(p); p.Enabled && isLocal(base) && m.answers(ctx, base) {
			c, err := m.ofProvider(ctx, p, "a local server answers at "+base+". "+howToChange)
			if err == nil {
				return c, nil
			}
			reason, _, _ := strings.Cut(err.Error(), "\n")
			passed += fmt.Sprintf("something answers at %s but was passed over (%s); ", base, reason)
		}
	}
	for _, p := range m.cfg.Providers {
		if p.Enabled && p.Model != "" && !isLocal(m.base(p)) && p.HasKey(m.cfg.Context) {
			return m.choice(p, p.Model, passed+"its key is in the environment and no local server has a model that can call tools. "+howToChange), nil
		}
	}
	if p, ok := m.provider("replay"); ok && p.Enabled {
		return m.choice(p, p.Model, passed+"no local server has a model that can call tools, and no key of a known provider is in the environment that the daemon was started with. "+howToChange), nil
	}
	return engine.Choice{}, sdk.Errorf(sdk.Unavailable, "there is no model: start a local server such as ollama, export OPENAI_API_KEY, or write a provider block into the configuration")
}

// ofProvider takes the block's model, else the first that can call tools, else
// the first that does not say it cannot.
func (m *models) ofProvider(ctx context.Context, p config.Plugin, why string) (engine.Choice, error) {
	if p.Model != "" {
		c := m.choice(p, p.Model, why)
		m.describeLocal(ctx, &c)
		return c, nil
	}
	list, err := m.list(ctx, p.Label)
	if err != nil {
		return engine.Choice{}, err
	}
	able := func(x sdk.Model) bool { return x.Tools != nil && *x.Tools }
	silent := func(x sdk.Model) bool { return x.Tools == nil }
	for _, fits := range []func(sdk.Model) bool{able, silent} {
		if i := slices.IndexFunc(list, fits); i >= 0 {
			c := m.choice(p, list[i].Name, why)
			c.Context, c.Tools = list[i].Context, list[i].Tools
			return c, nil
		}
	}
	return engine.Choice{}, sdk.Errorf(sdk.Unavailable, "provider %s has no model that can call tools", p.Label)
}

func (m *models) choice(p config.Plugin, name, why string) engine.Choice {
	return engine.Choice{Alias: p.Label + "/" + name, Provider: p.Label, Name: name, Why: why}
}

// describeLocal is describe for a provider on this machine, whose list costs
// nothing.
func (m *models) describeLocal(ctx context.Context, c *engine.Choice) {
	p, ok := m.provider(c.Provider)
	if !ok {
		return
	}
	if base := m.base(p); base == "" || isLocal(base) {
		m.describe(ctx, c)
	}
}

// describe adds what the provider tells about a model, to what is not known
// already; silence is no error.
func (m *models) describe(ctx context.Context, c *engine.Choice) {
	list, err := m.list(ctx, c.Provider)
	if err != nil {
		return
	}
	for _, x := range list {
		if x.Name == c.Name {
			c.Tools = x.Tools
			if c.Context == 0 {
				c.Context = x.Context
			}
		}
	}
}

func (m *models) list(ctx context.Context, instance string) ([]sdk.Model, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	if err := m.host.Ensure(ctx, instance); err != nil {
		return nil, err
	}
	return m.host.Models(ctx, instance)
}

func (m *models) provider(label string) (config.Plugin, bool) {
	for _, p := range m.cfg.Providers {
		if p.Label == label {
			return p, true
		}
	}
	return config.Plugin{}, false
}

func (m *models) providerLabels() []string {
	var out []string
	for _, p := range m.cfg.Providers {
		out = append(out, p.Label)
	}
	return out
}

// base is where a provider's server is. An address without a port, as
// OLLAMA_HOST may hold it, means Ollama's own.
func (m *models) base(p config.Plugin) string {
	base := p.BaseURL(m.cfg.Context)
	if u, ok := parseBase(base); ok && p.Binary == "ollama" && u.Port() == "" && !strings.Contains(base, "://") {
		return net.JoinHostPort(u.Hostname(), "11434")
	}
	return base
}

// answers reports whether anything listens there. That it is a model server is
// found out by its plugin.
func (m *models) answers(ctx context.Context, base string) bool {
	ctx, cancel := context.WithTimeout(ctx, lookTime)
	defer cancel()
	address := hostPort(base)
	if m.dial != nil {
		return m.dial(ctx, address) == nil
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", address)
	if err != nil {
		return false
	}
	_ = conn.Close() // nothing was written
	return true
}

// parseBase reads a base URL, with or without a scheme ("127.0.0.1:11434") or
// a host (":11434").
func parseBase(base string) (*url.URL, bool) {
	if base == "" {
		return nil, false
	}
	if strings.HasPrefix(base, ":") {
		base = "127.0.0.1" + base
	}
	if !strings.Contains(base, "://") {
		base = "http://" + base
	}
	u, err := url.Parse(base)
	return u, err == nil && u.Hostname() != ""
}

// isLocal reports whether a base URL stays on this machine. A server that was
// told to listen on all addresses (0.0.0.0) is reached on this one.
func isLocal(base string) bool {
	u, ok := parseBase(base)
	if !ok {
		return false
	}
	if u.Hostname() == "localhost" {
		return true
	}
	ip := net.ParseIP(u.Hostname())
	return ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

func hostPort(base string) string {
	u, ok := parseBase(base)
	if !ok {
		return ""
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"https": "443"}[u.Scheme]
	}
	if port == "" {
		port = "80"
	}
	return net.JoinHostPort(u.Hostname(), port)
}
