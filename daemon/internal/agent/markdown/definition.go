package markdown

import (
	"context"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// defined are the agents of a view's files by one configuration, until either is another.
type defined struct {
	by     *config.Config
	agents []sdk.Definition
	hashes []string // of their files
}

// Definitions are the agents of a project's files as the files say it, for the list of agents:
// those that can be used and are not switched off. A workspace's that nobody trusts as it is now
// is marked. Whoever gets them does not change them.
func (l *Library) Definitions(project string) []sdk.Definition {
	views, err := l.caughtUp(context.Background(), project)
	if err != nil { // which without an end of the context none is
		l.o.Log.Error("the agents' files are not read", "error", err)
	}
	cfg := l.current()
	l.mu.Lock()
	all := views[0].define(cfg).agents
	own := &defined{}
	if len(views) > 1 {
		own = views[1].define(cfg)
	}
	l.mu.Unlock()
	if len(own.agents) == 0 {
		return all
	}
	trusted := l.o.Trusted(project)
	all = slices.Concat(all, own.agents)
	for i := range own.agents {
		d := &all[len(all)-len(own.agents)+i]
		d.Untrusted = trusted[d.Agent.Name] != own.hashes[i]
	}
	return all
}

// define makes the definitions of a view, unless they are made. It is called with the lock of the library.
func (v *view) define(cfg *config.Config) *defined {
	if v.defined != nil && v.defined.by == cfg {
		return v.defined
	}
	v.defined = &defined{by: cfg}
	for _, x := range v.files {
		if x.Loaded && !x.Off {
			v.defined.agents = append(v.defined.agents, x.definition(cfg))
			v.defined.hashes = append(v.defined.hashes, x.Hash)
		}
	}
	return v.defined
}

// definition is the file's agent with a model that is there.
func (x *File) definition(cfg *config.Config) sdk.Definition {
	d := sdk.Definition{Agent: x.Agent, Source: sdk.AgentOfUser, Place: x.Path, Notes: slices.Clip(x.notes)}
	if x.Tier == sdk.TierWorkspace {
		d.Source = sdk.AgentOfWorkspace
	}
	model, unknown := x.model(cfg.HasModel)
	d.Agent.Model = model
	if unknown != "" {
		d.Notes = append(d.Notes, fmt.Sprintf("line %d: there is no model %q in the configuration, so that it has the prompt's", x.modelLine, unknown))
	}
	return d
}

// model is the first of the file's models that is there, or empty, which is the prompt's; unknown
// is the first one that nobody knows where none is there.
func (x *File) model(isModel func(name string) bool) (model, unknown string) {
	for _, name := range x.Models {
		if isModel(name) {
			return name, ""
		}
	}
	i := slices.IndexFunc(x.Models, func(name string) bool { return !foreign(name) })
	if i >= 0 {
		unknown = x.Models[i]
	}
	return "", unknown
}
