package engine

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Agents are those that a prompt may name, by name. The project, which may be empty, may
// choose which one is taken when none is named, and decides whether the mode workspace
// is possible.
func (e *Engine) Agents(project string) []rpc.Agent {
	agents, usual := *e.agents.Load(), "default"
	model := agents["default"].Model // of agents that name none
	if project != "" {
		narrowed := e.narrowing(project)
		usual, model = cmp.Or(narrowed.Agent, usual), cmp.Or(narrowed.Model, model)
	}
	all := make([]rpc.Agent, 0, len(agents))
	for _, name := range slices.Sorted(maps.Keys(agents)) {
		a := agents[name]
		x := rpc.Agent{Name: name, Model: cmp.Or(a.Model, model), Mode: e.agentMode(a), Tools: []string{}, Default: name == usual}
		for _, t := range e.toolsOf(a) {
			x.Tools = append(x.Tools, t.Name)
		}
		slices.Sort(x.Tools)
		if project != "" { // where another may hold
			x.Mode = e.modeIn(x.Mode, placed{project: sdk.Project{Root: project}, agent: a})
		}
		x.Description = mayDo(a, x.Mode, len(x.Tools))
		all = append(all, x)
	}
	return all
}

// Guards are those of an agent in a project; of one that is gone those of none.
func (e *Engine) Guards(project, agent string) sdk.Guards {
	a, err := e.agent(agent)
	if err != nil {
		return sdk.Guards{}
	}
	return e.narrowing(project).Guards(a.Guards)
}

// modesMay is what a prompt may do in each mode, for people.
var modesMay = map[sdk.Mode]string{
	sdk.ModeInteractive: "asks before a call that changes something",
	sdk.ModeRestricted:  "runs what is known to be harmless or is allowed, and asks about the rest",
	sdk.ModeWorkspace:   "runs what works on a copy of the project and can be taken back, and asks about the rest",
	sdk.ModeFull:        "asks about nothing; what is denied stays denied",
}

// mayDo says what an agent may do.
func mayDo(a sdk.Agent, mode sdk.Mode, tools int) string {
	with := "with every tool"
	switch {
	case tools == 0:
		return "answers, and calls no tools"
	case len(a.Tools) > 0:
		with = fmt.Sprintf("with %d tools", tools)
		if tools == 1 {
			with = "with one tool"
		}
	}
	return modesMay[mode] + ", " + with
}
