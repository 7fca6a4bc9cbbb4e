package model

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// lookTime bounds the question whether anything listens at a local address.
const lookTime = 300 * time.Millisecond

// listTime bounds a provider's listing of its models.
const listTime = 10 * time.Second

// resolver is the models with the configuration that one question is answered by.
type resolver struct {
	*Models
	cfg   *config.Config
	looks bool // nothing is started for it
}

func (m *Models) now() resolver { return resolver{Models: m, cfg: m.cfg.Load()} }

// onlyLooks is the resolver of a question that starts no server.
func (m *Models) onlyLooks() resolver {
	r := m.now()
	r.looks = true
	return r
}

// resolve finds the model of a name: a model block's label, or provider/name.
// The empty name is the daemon's choice (ADR 0004). A name of the configuration
// may give way to another model.
func (r resolver) resolve(ctx context.Context, name string, configured bool) (sdk.ModelChoice, error) {
	if name == "" {
		return r.choose(ctx)
	}
	for _, block := range r.cfg.Models {
		if block.Alias == name {
			c := sdk.ModelChoice{Alias: name, Provider: block.Provider, Name: block.Name, Context: block.Context, Temperature: block.Temperature}
			return r.settle(ctx, c, configured)
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
	return r.settle(ctx, r.choice(p, model, ""), configured)
}

// ofProvider takes the block's model, else the best that it has.
func (r resolver) ofProvider(ctx context.Context, p config.Plugin, why string) (sdk.ModelChoice, error) {
	if p.Model != "" {
		c, err := r.settle(ctx, r.choice(p, p.Model, why), true)
		if c.Instead != "" {
			c.Why = why + ". " + c.Why
		}
		return c, err
	}
	var x sdk.Model
	var found bool
	_, err := r.look(ctx, p, func(list []sdk.Model) bool {
		x, found = best(list)
		return found
	})
	if err != nil {
		return sdk.ModelChoice{}, err
	}
	if !found {
		return sdk.ModelChoice{}, sdk.Errorf(sdk.Unavailable, "provider %s has no model that can call tools%s", p.Label, r.howToPull(p))
	}
	c := r.choice(p, x.Name, why)
	c.Context, c.Tools, c.Inputs = x.Context, x.Tools, x.Inputs
	return c, nil
}

// settle adds what a provider on this machine, whose list costs nothing, tells
// about a model to what is not known already; that it tells nothing is no error.
// A model that a local server has not is one, unless a name of the configuration
// can give way.
func (r resolver) settle(ctx context.Context, c sdk.ModelChoice, configured bool) (sdk.ModelChoice, error) {
	p, ok := r.provider(c.Provider)
	base := r.base(p)
	if !ok || base != "" && !isLocal(base) {
		return c, nil
	}
	var x sdk.Model
	var found bool
	list, err := r.look(ctx, p, func(list []sdk.Model) bool {
		x, found = find(list, c.Name)
		return found
	})
	if err != nil || !found && (base == "" || len(list) == 0) {
		return c, nil
	}
	if !found {
		return r.giveWay(c, p, list, configured)
	}
	if c.Alias == p.Label+"/"+c.Name {
		c.Alias = p.Label + "/" + x.Name
	}
	c.Name, c.Tools, c.Inputs, c.Remote = x.Name, x.Tools, x.Inputs, x.Remote
	if c.Context == 0 {
		c.Context = x.Context
	}
	if c.Tools != nil && !*c.Tools {
		able := ableOf(p.Label, list)
		c.Able = able[:min(len(able), maxNamed)]
	}
	return c, nil
}

// giveWay is what becomes of a choice that its local server has not: another model
// of that server's for a name of the configuration, else an error.
func (r resolver) giveWay(c sdk.ModelChoice, p config.Plugin, list []sdk.Model, configured bool) (sdk.ModelChoice, error) {
	x, able := best(list)
	if !configured || !able {
		return sdk.ModelChoice{}, sdk.Errorf(sdk.NotFound, "%s", lacks(p.Label, c.Name, list))
	}
	wanted := p.Label + "/" + c.Name
	why := fmt.Sprintf("the configuration names %s, which %s does not have: %s/%s is taken in its place", wanted, r.base(p), p.Label, x.Name)
	if r.isOllama(p) {
		why += "; `bothy models pull " + p.Label + "/" + c.Name + "` gets it"
	}
	c = r.choice(p, x.Name, why)
	c.Context, c.Tools, c.Inputs, c.Instead = x.Context, x.Tools, x.Inputs, wanted
	return c, nil
}

// look hands the list of a provider to a question. Where the list that is kept
// has no answer the provider is asked anew, for somebody may have got a model
// meanwhile.
func (r resolver) look(ctx context.Context, p config.Plugin, answered func([]sdk.Model) bool) ([]sdk.Model, error) {
	if list, ok := r.kept.list(p.Label, r.mark(p)); ok && answered(list) {
		return list, nil
	}
	list, err := r.list(ctx, p)
	if err == nil {
		answered(list)
	}
	return list, err
}

// list asks a provider for its models.
func (r resolver) list(ctx context.Context, p config.Plugin) ([]sdk.Model, error) {
	limit := listTime
	if r.starts(ctx, p) {
		if r.looks {
			return nil, asleep(p)
		}
		defer r.waits(startsOllama)()
		limit += startTime
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if err := r.host.Ensure(ctx, p.Label); err != nil {
		return nil, err
	}
	mark := r.mark(p) // what changes meanwhile makes the list an old one
	list, err := r.host.Models(ctx, p.Label)
	if err == nil {
		r.kept.keep(p.Label, mark, list)
	}
	return list, err
}

// mark changes with the block of a provider and with the state of its plugin.
func (r resolver) mark(p config.Plugin) string { return p.Digest + " " + r.host.State(p.Label) }

func (r resolver) isOllama(p config.Plugin) bool { return p.Binary == "ollama" }

func (r resolver) provider(label string) (config.Plugin, bool) {
	for _, p := range r.cfg.Providers {
		if p.Label == label {
			return p, true
		}
	}
	return config.Plugin{}, false
}
