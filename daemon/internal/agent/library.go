// Package agent keeps the one list of agents: those of the configuration, of Markdown files and of plugins, each
// with where it comes from and whom it goes before.
//
//	Library   who wins a name, and what is shadowed
//	narrow    what an agent outside of the configuration keeps of what it asks for
//	skills    which of the skills that an agent names there are
package agent

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// Default is the name of the agent that prompts get which name none. It stands in the configuration alone, since all
// others are held to what it may do.
const Default = "default"

// Sources are where agents come from beside the configuration. Each lists them as they say it themselves, those that
// go before first, and is asked for each prompt: it keeps what it has read.
type Sources struct {
	// Files are the Markdown files of the user and of a project, which may be empty; Source, Place, Untrusted and
	// Notes are set. Nil has none.
	Files func(project string) []sdk.Definition
	// Plugins are the agents that plugins declare and their blocks take; Place is the label. Nil has none.
	Plugins func() []sdk.Definition
	// Skills reports which names are those of skills of a project, usable or not. Nil knows every name.
	Skills func(project string) func(name string) bool
}

// Library is the list of agents, by the configuration in force. Its methods may be called concurrently.
type Library struct {
	current func() *config.Config
	sources Sources
	last    atomic.Pointer[configured]
}

// configured is what a configuration has to say of agents.
type configured struct {
	cfg    *config.Config
	agents map[string]sdk.Definition
	bound  sdk.Bound // of all that stand elsewhere
}

// NewLibrary makes a library. Each answer is by what current returns then, which is never changed.
func NewLibrary(current func() *config.Config, sources Sources) *Library {
	return &Library{current: current, sources: sources}
}

// configured is what the configuration in force says.
func (l *Library) configured() *configured {
	cfg := l.current()
	if last := l.last.Load(); last != nil && last.cfg == cfg {
		return last
	}
	usual := cfg.Agents[Default]
	now := &configured{cfg, make(map[string]sdk.Definition, len(cfg.Agents)), sdk.Bound{Tools: bounds(usual), MCP: usual.MCP}}
	for name, a := range cfg.Agents {
		from := cfg.Origins[name]
		d := sdk.Definition{Agent: a, Source: sdk.AgentOfConfig, Place: from.Place, From: from.Attributes}
		if from.Bundled {
			d.Source = sdk.AgentBundled
		}
		now.agents[name] = d
	}
	l.last.Store(now)
	return now
}

// List are the agents of a project, or without one those of everywhere, by name. One of a file that nobody trusts is
// listed, marked, also behind another of its name, which it does not hide.
func (l *Library) List(project string) []sdk.Definition {
	now := l.configured()
	named := make(map[string][]sdk.Definition, len(now.agents))
	for name, d := range now.agents {
		named[name] = []sdk.Definition{d}
	}
	l.others(project, func(d sdk.Definition) { named[d.Agent.Name] = append(named[d.Agent.Name], now.narrow(d)) })
	all := make([]sdk.Definition, 0, len(named))
	knows := l.skills(project)
	for _, name := range slices.Sorted(maps.Keys(named)) {
		first := winner(named[name])
		all = append(all, withSkills(first, knows))
		untrusted := slices.DeleteFunc(named[name], func(d sdk.Definition) bool { return !d.Untrusted })
		if len(untrusted) > 0 && !first.Untrusted {
			all = append(all, withSkills(winner(untrusted), knows))
		}
	}
	return all
}

// Find is the agent that a prompt gets by a name in a project; false is that there is none. It is never one that
// nobody trusts.
func (l *Library) Find(project, name string) (sdk.Definition, bool) {
	d, found := l.Show(project, name)
	if found && d.Untrusted && name == sdk.TeamOfAll {
		return l.everybody(project), true // it hides nothing
	}
	return d, found && !d.Untrusted
}

// Show is Find for people, who also look at what nobody trusts.
func (l *Library) Show(project, name string) (sdk.Definition, bool) {
	now := l.configured()
	var all []sdk.Definition
	if d, is := now.agents[name]; is {
		all = append(all, d)
	}
	l.others(project, func(d sdk.Definition) {
		if d.Agent.Name == name {
			all = append(all, now.narrow(d))
		}
	})
	switch {
	case len(all) > 0:
		return withSkills(winner(all), l.skills(project)), true
	case name == sdk.TeamOfAll:
		return l.everybody(project), true
	}
	return sdk.Definition{}, false
}

// everybody is the team of all agents that a prompt may name, where none has its name.
func (l *Library) everybody(project string) sdk.Definition {
	a := l.configured().cfg.TeamOf(sdk.TeamOfAll)
	a.Description = "All agents as a team: plans the prompt, and gives its parts to those who can do them."
	for _, d := range l.List(project) {
		if !d.Untrusted && d.Agent.Team == nil {
			a.Agents = append(a.Agents, d.Agent.Name)
		}
	}
	return sdk.Definition{Agent: a, Source: sdk.AgentBundled}
}

// others gives do the agents that do not stand in the configuration.
func (l *Library) others(project string, do func(sdk.Definition)) {
	if l.sources.Files != nil {
		for _, d := range l.sources.Files(project) {
			do(d)
		}
	}
	if l.sources.Plugins != nil {
		for _, d := range l.sources.Plugins() {
			do(d)
		}
	}
}

// winner is the one of a name that is taken, with the others behind it.
func winner(all []sdk.Definition) sdk.Definition {
	slices.SortStableFunc(all, func(a, b sdk.Definition) int { return cmp.Compare(rank(a), rank(b)) })
	first := all[0]
	for _, d := range all[1:] {
		first.Shadowed = append(first.Shadowed, sdk.ShadowedAgent{Source: d.Source, Place: d.Place, Untrusted: d.Untrusted, Notes: d.Notes})
	}
	return first
}

// rank is where a definition stands among those of its name.
func rank(d sdk.Definition) int {
	sources := sdk.AgentSources()
	switch {
	case d.Untrusted:
		return len(sources)
	case d.Agent.Name == Default && d.Source == sdk.AgentBundled:
		return -1
	}
	return slices.Index(sources, d.Source)
}
