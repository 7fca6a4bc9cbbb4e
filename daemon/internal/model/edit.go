package model

import (
	"context"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Answers answers clients about models, and writes model blocks for them. All fields are required.
type Answers struct {
	*Models
	// Load reads the configuration as its file is now; Reload puts it in force.
	Load   func() (path string, cfg *config.Config, err error)
	Reload func(context.Context) error

	editing sync.Mutex
}

// Add writes a model block into the user's configuration and puts it in force. One that is there and says
// the same is left as it is.
func (a *Answers) Add(ctx context.Context, p rpc.ModelAdd) (rpc.ModelAdded, error) {
	a.editing.Lock()
	defer a.editing.Unlock()
	path, cfg, err := a.load()
	if err != nil {
		return rpc.ModelAdded{}, err
	}
	e, err := editOf(cfg, p)
	if err != nil {
		return rpc.ModelAdded{}, err
	}
	added := rpc.ModelAdded{Alias: e.Alias, Actual: e.Provider + "/" + e.Name, File: path}
	if !same(cfg, e) {
		added.Changed = true
		if err := config.AddModel(path, e); err != nil {
			return rpc.ModelAdded{}, err
		}
	}
	return added, a.Reload(ctx) // also when nothing was written: an editor may have saved just now
}

// Remove takes a model block out of the user's configuration and puts that in force.
func (a *Answers) Remove(ctx context.Context, p rpc.ModelRef) (rpc.ModelRemoved, error) {
	a.editing.Lock()
	defer a.editing.Unlock()
	path, cfg, err := a.load()
	if err != nil {
		return rpc.ModelRemoved{}, err
	}
	if err := cfg.RemoveModel(path, p.Alias); err != nil {
		return rpc.ModelRemoved{}, err
	}
	return rpc.ModelRemoved{Alias: p.Alias, File: path}, a.Reload(ctx)
}

// load is Load, for what is about to write.
func (a *Answers) load() (string, *config.Config, error) {
	path, cfg, err := a.Load()
	if err != nil {
		return path, nil, sdk.Errorf(sdk.Validation, "%s cannot be used as it is, so that nothing is written into it; mend this first:\n%w", path, err)
	}
	return path, cfg, nil
}

// editOf is the block that a client asks for.
func editOf(cfg *config.Config, p rpc.ModelAdd) (config.ModelEdit, error) {
	provider, name, _ := strings.Cut(p.Actual, "/")
	if err := config.CheckLabel("model", p.Alias); err != nil {
		return config.ModelEdit{}, err
	}
	known := false
	for _, x := range cfg.Providers {
		known = known || x.Label == provider
	}
	switch {
	case name == "" || len(p.Actual) > 256 || strings.ContainsFunc(p.Actual, unicode.IsControl) || !utf8.ValidString(p.Actual):
		return config.ModelEdit{}, sdk.Errorf(sdk.Validation, "actual is %.300q and must be provider/name, as in ollama/qwen3", p.Actual)
	case !known:
		labels := make([]string, len(cfg.Providers))
		for i, x := range cfg.Providers {
			labels[i] = x.Label
		}
		return config.ModelEdit{}, sdk.Errorf(sdk.NotFound, "there is no provider %q; there are %s", provider, strings.Join(labels, ", "))
	case p.ContextLength < 0:
		return config.ModelEdit{}, sdk.Errorf(sdk.Validation, "contextLength is %d, and is a number of tokens", p.ContextLength)
	}
	return config.ModelEdit{Alias: p.Alias, Provider: provider, Name: name, Context: p.ContextLength}, nil
}

// same reports whether a block says already what one would that is to be added.
func same(cfg *config.Config, e config.ModelEdit) bool {
	for _, m := range cfg.Models {
		if m.Alias == e.Alias {
			return m.Provider == e.Provider && m.Name == e.Name && (e.Context == 0 || e.Context == m.Context)
		}
	}
	return false
}
