package engine

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/misnamed"
	"github.com/bothyd/bothy/sdk"
)

// toolsOf returns the plugins' tools an agent may use, by its globs over bare and
// qualified names.
func (e *Engine) toolsOf(agent sdk.Agent) []sdk.Tool {
	return admitted(agent, e.cfg.Tools.Tools())
}

// admitted are those of the plugins' tools that an agent may use.
func admitted(agent sdk.Agent, tools []sdk.Tool) []sdk.Tool {
	return which(withCommands(agent, tools), func(t sdk.Tool) bool { return mayUse(&agent, &t) })
}

// mayUse reports whether an agent may use one of the plugins' tools.
func mayUse(agent *sdk.Agent, t *sdk.Tool) bool {
	return !t.Unlisted && !t.People && agent.Admits(*t)
}

// listed are the plugins' tools that a plugin may call in a run by their names: not those of
// servers that were lent to another.
func (e *Engine) listed(run sdk.Run) []sdk.Tool {
	all := sdk.Agent{Lent: e.lent(run), Excluded: run.Excludes()}
	return which(e.cfg.Tools.Tools(), func(t sdk.Tool) bool { return !t.Unlisted && !t.People && all.Admits(t) })
}

// offer returns the plugins' tools that a model is shown.
func (e *Engine) offer(agent sdk.Agent, readOnly bool) []sdk.Tool {
	return readable(e.toolsOf(agent), readOnly)
}

// readable leaves out, where a loop may only read, what policy would not let a model use, so
// that it is not tempted.
func readable(tools []sdk.Tool, readOnly bool) []sdk.Tool {
	if !readOnly {
		return tools
	}
	return which(tools, func(t sdk.Tool) bool { return t.Pinned && (t.Annotations.ReadOnly || t.Entries || t.Keeps || t.Looks) })
}

// maxNamed is how many tools an error names.
const maxNamed = 50

// find returns the tool of a name and, for an own tool, who runs it; or an
// error that names what there is.
func (e *Engine) find(a *activeLoop, name string) (sdk.Tool, sdk.TurnTools, error) {
	own, known := a.ownTools(), false
	plugged := withCommands(a.agent, e.cfg.Tools.Tools())
	if a.team != nil { // whose turn has the one tool that it is for
		plugged = nil
	}
	for i, tools := range [][]sdk.Tool{own, plugged} {
		for _, t := range tools {
			switch {
			case t.Unlisted || t.People && a.loop.ID != 0 || t.Name != name && t.Qualified() != name:
			case !a.agent.Admits(t):
				known = true // a plugin may have one of that name which the agent may use
			case i == 0:
				return t, a.own, nil
			default:
				t.Annotations.Terminal = t.Annotations.Terminal && a.agent.Finish == nil // else the result ends it
				return t, nil, nil
			}
		}
	}
	all := append(which(own, a.agent.Admits), e.toolsOf(a.agent)...)
	var names []string
	for _, t := range all {
		names = append(names, t.Name)
	}
	if err := misnamed.Tool(name, all); err != nil && !known {
		return sdk.Tool{}, nil, err
	}
	switch {
	case slices.Contains(a.agent.Excluded, name):
		return sdk.Tool{}, nil, sdk.Errorf(sdk.Permission, "the run %s was given without %q; it has: %s", a.run.Alias, name, cmp.Or(named(names), "no tools"))
	case known && len(names) == 0:
		return sdk.Tool{}, nil, sdk.Errorf(sdk.Permission, "agent %q may use no tools, so not %q either: answer in plain text", a.agent.Name, name)
	case known:
		return sdk.Tool{}, nil, sdk.Errorf(sdk.Permission, "agent %q may not use %q; it has: %s", a.agent.Name, name, named(names))
	}
	return sdk.Tool{}, nil, e.noTool(name, names)
}

// noTool says that there is no tool, or that its plugin does not run.
func (e *Engine) noTool(name string, names []string) error {
	missing := e.cfg.Tools.Missing(name)
	if missing != nil && sdk.OutcomeOf(missing) != sdk.NotFound {
		return fmt.Errorf("the tool %.80q cannot be called: %w", name, missing)
	}
	text := "there are no tools at all now"
	if len(names) > 0 {
		text = "there are: " + named(names)
	}
	if missing != nil {
		text += "; " + missing.Error()
	}
	return sdk.Errorf(sdk.NotFound, "there is no tool %.80q; %s", name, text)
}

// named are the first names of a list.
func named(names []string) string {
	if len(names) > maxNamed {
		names = append(names[:maxNamed:maxNamed], "...")
	}
	return strings.Join(names, ", ")
}
