package model

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// lookTime bounds the question whether anything listens at a local address.
const lookTime = 300 * time.Millisecond

// listTime bounds a provider's listing of its models.
const listTime = 10 * time.Second

// howToChange ends the line that says which model was taken.
const howToChange = "To take another: bothy run -m MODEL, or model = \"...\" in an agent block of ~/.config/bothy/config.hcl"

// resolve finds the model of a name: a model block's label, or provider/name.
// The empty name is the daemon's choice (ADR 0004).
func (r resolver) resolve(ctx context.Context, name string) (sdk.ModelChoice, error) {
	if name == "" {
		return r.choose(ctx)
	}
	for _, block := range r.cfg.Models {
		if block.Alias == name {
			c := sdk.ModelChoice{Alias: name, Provider: block.Provider, Name: block.Name, Context: block.Context, Temperature: block.Temperature}
			r.describe(ctx, &c)
			return c, nil
		}
	}
	provider, model, ok := strings.Cut(name, "/")
	p, known := r.provider(provider)
	if !known {
		var labels []string
		for _, p := range r.cfg.Providers {
			labels = append(labels, p.Label)
		}
		return sdk.ModelChoice{}, sdk.Errorf(sdk.NotFound, "there is no model %q: name a model block or provider/name (providers: %s); `bothy models` lists what there is", name, strings.Join(labels, ", "))
	}
	if !ok || model == "" {
		return r.ofProvider(ctx, p, fmt.Sprintf("provider %s was named without a model", provider))
	}
	c := sdk.ModelChoice{Alias: name, Provider: provider, Name: model}
	r.describe(ctx, &c)
	return c, nil
}

// choose takes the first model that can be had.
func (r resolver) choose(ctx context.Context) (sdk.ModelChoice, error) {
	var passed string // what answered and has no model to offer
	for _, p := range r.cfg.Providers {
		if base := r.base(p); p.Enabled && isLocal(base) && r.answers(ctx, base) {
			c, err := r.ofProvider(ctx, p, "a local server answers at "+base+". "+howToChange)
			if err == nil {
				return c, nil
			}
			reason, _, _ := strings.Cut(err.Error(), "\n")
			passed += fmt.Sprintf("something answers at %s but was passed over (%s); ", base, reason)
		}
	}
	for _, p := range r.cfg.Providers {
		if p.Enabled && p.Model != "" && !isLocal(r.base(p)) && p.HasKey(r.cfg.Context) {
			return r.choice(p, p.Model, passed+"its key is in the environment and no local server has a model that can call tools. "+howToChange), nil
		}
	}
	if p, ok := r.provider("replay"); ok && p.Enabled {
		return r.choice(p, p.Model, passed+"no local server has a model that can call tools, and no key of a known provider is in the environment that the daemon was started with. "+howToChange), nil
	}
	return sdk.ModelChoice{}, sdk.Errorf(sdk.Unavailable, "there is no model: start a local server such as ollama, export OPENAI_API_KEY, or write a provider block into the configuration")
}

// ofProvider takes the block's model, else the first that can call tools, else
// the first that does not say it cannot.
func (r resolver) ofProvider(ctx context.Context, p config.Plugin, why string) (sdk.ModelChoice, error) {
	if p.Model != "" {
		c := r.choice(p, p.Model, why)
		r.describe(ctx, &c)
		return c, nil
	}
	list, err := r.list(ctx, p.Label)
	if err != nil {
		return sdk.ModelChoice{}, err
	}
	able := func(x sdk.Model) bool { return x.Tools != nil && *x.Tools }
	silent := func(x sdk.Model) bool { return x.Tools == nil }
	for _, fits := range []func(sdk.Model) bool{able, silent} {
		if i := slices.IndexFunc(list, fits); i >= 0 {
			c := r.choice(p, list[i].Name, why)
			c.Context, c.Tools = list[i].Context, list[i].Tools
			return c, nil
		}
	}
	return sdk.ModelChoice{}, sdk.Errorf(sdk.Unavailable, "provider %s has no model that can call tools", p.Label)
}

func (r resolver) choice(p config.Plugin, name, why string) sdk.ModelChoice {
	return sdk.ModelChoice{Alias: p.Label + "/" + name, Provider: p.Label, Name: name, Why: why}
}

// describe adds what a provider on this machine, whose list costs nothing, tells
// about a model, to what is not known already; silence is no error.
func (r resolver) describe(ctx context.Context, c *sdk.ModelChoice) {
	p, ok := r.provider(c.Provider)
	if !ok {
		return
	}
	if base := r.base(p); base != "" && !isLocal(base) {
		return
	}
	list, err := r.list(ctx, c.Provider)
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

func (r resolver) list(ctx context.Context, instance string) ([]sdk.Model, error) {
	ctx, cancel := context.WithTimeout(ctx, listTime)
	defer cancel()
	if err := r.host.Ensure(ctx, instance); err != nil {
		return nil, err
	}
	return r.host.Models(ctx, instance)
}

func (r resolver) provider(label string) (config.Plugin, bool) {
	for _, p := range r.cfg.Providers {
		if p.Label == label {
			return p, true
		}
	}
	return config.Plugin{}, false
}
