package model

import (
	"context"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// howToChange ends the line that says which model was taken.
const howToChange = "To take another: bothy run -m MODEL, or model = \"...\" in an agent block of ~/.config/bothy/config.hcl"

// threeWays are the shortest ones to get a model; the replay provider names them when
// it is asked for what is not recorded.
const threeWays = "To get one, install Ollama, which Bothy starts, and say `bothy models pull qwen3`; or give the key of a provider: `bothy auth login openai` (or anthropic, groq, openrouter); or write a provider block into ~/.config/bothy/config.hcl: provider \"openai\" { base_url = \"http://HOST:PORT/v1\" }"

// choose takes the first model that can be had.
func (r resolver) choose(ctx context.Context) (sdk.ModelChoice, error) {
	c, passed, ok := r.local(ctx)
	if ok {
		return c, nil
	}
	c, failed, ok := r.started(ctx)
	if ok {
		return c, nil
	}
	if passed += failed; r.looks && failed != "" {
		return c, sdk.Errorf(sdk.Unavailable, "%s", passed)
	}
	for _, p := range r.cfg.Providers {
		if !p.Enabled || p.Model == "" || isLocal(r.base(p)) {
			continue
		}
		if place := r.cfg.KeyPlace(p); place != "" {
			return r.choice(p, p.Model, passed+"its key is "+place+", and no local server has a model that can call tools. "+howToChange), nil
		}
	}
	if p, ok := r.last(); ok {
		return r.choice(p, p.Model, passed+"no local server has a model that can call tools, and there is no key of a known provider (`bothy auth login` gives one). "+howToChange), nil
	}
	return sdk.ModelChoice{}, sdk.Errorf(sdk.Unavailable, "%sthere is no model. %s", passed, threeWays)
}

// started is the model of a server that its plugin starts, as nothing on this machine
// has one to offer: it is installed and does not run. What came of it otherwise is
// not tried again for a while.
func (r resolver) started(ctx context.Context) (c sdk.ModelChoice, failed string, ok bool) {
	for _, p := range r.cfg.Providers {
		if r.kept.isSilent(startOf(p.Label)) || !r.starts(ctx, p) {
			continue
		}
		if r.looks {
			return c, asleep(p).Error(), false
		}
		c, err := r.ofProvider(ctx, p, "ollama is installed and was started at "+r.base(p)+". "+howToChange)
		if err == nil {
			return c, failed, true
		}
		if ctx.Err() == nil {
			r.kept.wasSilent(startOf(p.Label))
		}
		reason, _, _ := strings.Cut(err.Error(), "\n")
		failed += fmt.Sprintf("ollama is installed and could not be used (%s); ", reason)
	}
	return sdk.ModelChoice{}, failed, false
}

// howToPull ends an error that a provider has no model, where one can be got.
func (r resolver) howToPull(p config.Plugin) string {
	if !r.isOllama(p) {
		return ""
	}
	return ": `bothy models pull qwen3` gets one"
}

// local is the model of the first local server that answers and has one to
// offer, and what answered and has none. All addresses are asked at once; those
// behind the one that is taken are not waited for.
func (r resolver) local(ctx context.Context) (c sdk.ModelChoice, passed string, ok bool) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	type answer struct {
		base   string // empty: nothing listens there
		choice sdk.ModelChoice
		err    error
	}
	var asked []chan answer
	for _, p := range r.cfg.Providers {
		base := r.base(p)
		if !p.Enabled || !isLocal(base) {
			continue
		}
		told := make(chan answer, 1)
		asked = append(asked, told)
		go func() {
			if !r.answers(ctx, base) {
				told <- answer{}
				return
			}
			c, err := r.ofProvider(ctx, p, "a local server answers at "+base+". "+howToChange)
			told <- answer{base, c, err}
		}()
	}
	for _, told := range asked {
		switch a := <-told; {
		case a.base == "":
		case a.err == nil:
			return a.choice, passed, true
		default:
			reason, _, _ := strings.Cut(a.err.Error(), "\n")
			passed += fmt.Sprintf("something answers at %s but was passed over (%s); ", a.base, reason)
		}
	}
	return sdk.ModelChoice{}, passed, false
}

func (r resolver) choice(p config.Plugin, name, why string) sdk.ModelChoice {
	return sdk.ModelChoice{Alias: p.Label + "/" + name, Provider: p.Label, Name: name, Why: why}
}

// last is the provider of the recording that is taken when there is no model.
func (r resolver) last() (config.Plugin, bool) {
	p, ok := r.provider("replay")
	return p, ok && p.Enabled
}

// IsLast reports whether a name is the recording that is taken when there is no model. A run
// that began with it has no model yet.
func (m *Models) IsLast(name string) bool {
	p, ok := m.now().last()
	return ok && name == p.Label+"/"+p.Model
}
