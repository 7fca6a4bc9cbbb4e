package markdown

import (
	"context"
	"fmt"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// Definitions are the agents of a project's files as the files say it, for the list of agents:
// those that can be used and are not switched off. A workspace's that nobody trusts as it is now
// is marked.
func (l *Library) Definitions(project string) []sdk.Definition {
	files, err := l.Files(context.Background(), project)
	if err != nil { // which without an end of the context none is
		l.o.Log.Error("the agents' files are not read", "error", err)
	}
	cfg := l.current()
	var trusted map[string]string
	out := make([]sdk.Definition, 0, len(files))
	for _, x := range files {
		if !x.Loaded || x.Off {
			continue
		}
		if x.Tier == sdk.TierWorkspace && trusted == nil {
			trusted = l.o.Trusted(project)
		}
		out = append(out, x.definition(cfg.HasModel, x.Tier == sdk.TierWorkspace && trusted[x.Agent.Name] != x.Hash))
	}
	return out
}

// definition is the file's agent with a model that is there.
func (x *File) definition(isModel func(name string) bool, untrusted bool) sdk.Definition {
	d := sdk.Definition{Agent: x.Agent, Source: sdk.AgentOfUser, Place: x.Path, Untrusted: untrusted}
	if x.Tier == sdk.TierWorkspace {
		d.Source = sdk.AgentOfWorkspace
	}
	d.Notes = slices.Clip(x.notes)
	model, unknown := x.model(isModel)
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
