package engine

import (
	"path"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// toolsOf returns the tools an agent may use, by its globs over bare and
// qualified names.
func (e *Engine) toolsOf(agent sdk.Agent) []sdk.Tool {
	var out []sdk.Tool
	for _, t := range e.cfg.Tools.Tools() {
		if admits(agent, t) {
			out = append(out, t)
		}
	}
	return out
}

func admits(agent sdk.Agent, t sdk.Tool) bool {
	if len(agent.Tools) == 0 {
		return true
	}
	for _, glob := range agent.Tools {
		for _, name := range []string{t.Name, qualified(t)} {
			if ok, err := path.Match(glob, name); ok && err == nil {
				return true
			}
		}
	}
	return false
}

// qualified is the name that a tool always answers to.
func qualified(t sdk.Tool) string {
	prefix := t.Plugin + "__"
	if strings.HasPrefix(t.Name, prefix) {
		return t.Name
	}
	return prefix + t.Name
}

// offer returns what a model is shown: in mode ask only what policy would let
// it use, so that it is not tempted.
func (e *Engine) offer(agent sdk.Agent, mode sdk.Mode) []sdk.Tool {
	tools := e.toolsOf(agent)
	if mode == sdk.ModeAct {
		return tools
	}
	var reading []sdk.Tool
	for _, t := range tools {
		if t.Pinned && t.Annotations.ReadOnly {
			reading = append(reading, t)
		}
	}
	return reading
}

// maxNamed is how many tools an error names.
const maxNamed = 50

// find returns the tool of a name, or an error that names what there is.
func (e *Engine) find(agent sdk.Agent, name string) (sdk.Tool, error) {
	var names []string
	for _, t := range e.cfg.Tools.Tools() {
		match := t.Name == name || qualified(t) == name
		switch {
		case match && admits(agent, t):
			return t, nil
		case match:
			return sdk.Tool{}, sdk.Errorf(sdk.Permission, "agent %q may not use %q; it has: %s", agent.Name, name, strings.Join(namesOf(e.toolsOf(agent)), ", "))
		case admits(agent, t):
			names = append(names, t.Name)
		}
	}
	if len(names) == 0 {
		return sdk.Tool{}, sdk.Errorf(sdk.NotFound, "there is no tool %.80q; there are no tools at all now", name)
	}
	if len(names) > maxNamed {
		names = append(names[:maxNamed], "...")
	}
	return sdk.Tool{}, sdk.Errorf(sdk.NotFound, "there is no tool %.80q; there are: %s", name, strings.Join(names, ", "))
}

func namesOf(tools []sdk.Tool) []string {
	var names []string
	for _, t := range tools {
		names = append(names, t.Name)
	}
	return names
}
