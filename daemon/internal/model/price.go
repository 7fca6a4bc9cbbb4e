package model

import (
	"context"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// bound adds to a choice what the configuration says of its answers: how long they may be,
// what they cost, and who answers in its place.
func (r resolver) bound(c *sdk.ModelChoice) {
	for _, b := range r.cfg.Models {
		if b.Alias == c.Alias {
			c.MaxTokens, c.Fallback, c.FallbackUnreachable = b.MaxTokens, b.Fallback, slices.Contains(b.FallbackOn, config.FallbackUnreachable)
		}
	}
	p, _ := r.provider(c.Provider)
	c.Local = isFree(p, r.base(p)) && !c.Remote
	c.Price = r.price(*c)
}

// price is what the configuration says of a model: its own block, else that of its
// provider; nil is unknown. A server on this machine costs nothing (ADR 0066), unless
// it hands what the model is told on to another one.
func (r resolver) price(c sdk.ModelChoice) *sdk.Price {
	for _, b := range r.cfg.Models {
		if b.Alias == c.Alias && b.Price != nil {
			return b.Price
		}
	}
	p, known := r.provider(c.Provider)
	switch {
	case !known: // of a run without a model, or of a block that is gone
	case p.Price != nil:
		return p.Price
	case isFree(p, r.base(p)) && !c.Remote:
		return &sdk.Price{}
	}
	return nil
}

// Price is what the configuration says of a model, by the name that Resolve gives it; nil
// is unknown. It asks no provider.
func (m *Models) Price(name string) *sdk.Price {
	r := m.now()
	c := sdk.ModelChoice{Alias: name}
	c.Provider, c.Name, _ = strings.Cut(name, "/")
	for _, b := range r.cfg.Models {
		if b.Alias == name {
			c.Provider, c.Name = b.Provider, b.Name
		}
	}
	if p, ok := r.provider(c.Provider); ok {
		list, _ := r.kept.list(p.Label, r.mark(p))
		x, _ := find(list, c.Name)
		c.Remote = x.Remote
	}
	return r.price(c)
}

// ContextUse is what the configuration says of the context of a model, by the name that Resolve gives it. It asks no
// provider.
func (m *Models) ContextUse(name string) sdk.ContextUse {
	cfg := m.cfg.Load()
	for _, b := range cfg.Models {
		if b.Alias == name {
			return b.Use.Or(cfg.Use)
		}
	}
	return cfg.Use
}

// isFree reports whether nothing is paid for a provider's models: they run on this
// machine, or are played from a file.
func isFree(p config.Plugin, base string) bool { return isLocal(base) || p.Binary == "replay" }

// ListedPrice is what the provider of a choice without a price lists for it, as far as
// it can be asked now; nil is unknown.
func (m *Models) ListedPrice(ctx context.Context, c sdk.ModelChoice) *sdk.Price {
	r := m.now()
	p, ok := r.provider(c.Provider)
	if !ok {
		return nil
	}
	var x sdk.Model
	_, _ = r.look(ctx, p, func(list []sdk.Model) bool { // a failure is told better by the completion
		var found bool
		x, found = find(list, c.Name)
		return found
	})
	return x.Price
}
