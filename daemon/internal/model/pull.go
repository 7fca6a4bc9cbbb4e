package model

import (
	"context"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// Pull gets a model onto the server of its provider, and returns its alias. A name
// without a provider is one of the first local Ollama. The end of ctx gives it up;
// what its server has by then it may keep.
func (m *Models) Pull(ctx context.Context, name string, progress func(sdk.PullProgress)) (string, error) {
	r := m.now()
	p, model, err := r.pulled(name)
	if err != nil {
		return "", err
	}
	defer r.kept.drop(p.Label)
	if r.starts(ctx, p) {
		progress(sdk.PullProgress{Status: startsOllama})
	}
	if err := r.host.Ensure(ctx, p.Label); err != nil {
		return "", err
	}
	return p.Label + "/" + model, r.host.Pull(ctx, p.Label, model, progress)
}

// pulled is the provider that a model is to be got from, and its name there.
func (r resolver) pulled(name string) (config.Plugin, string, error) {
	label, model, named := strings.Cut(name, "/")
	if p, known := r.provider(label); named && known && model != "" {
		return p, model, nil
	}
	for _, p := range r.cfg.Providers {
		if p.Enabled && r.isOllama(p) && isLocal(r.base(p)) {
			return p, name, nil
		}
	}
	return config.Plugin{}, "", sdk.Errorf(sdk.NotFound, "there is no provider on this machine that models can be got with: name one, as in ollama/%s", name)
}
