package agent

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// narrow is a definition that stands outside of the configuration, held to what the agent default may do. What it asks
// for beyond that is noted, and does not hold.
func (c *configured) narrow(d sdk.Definition) sdk.Definition {
	usual := c.agents[Default].Agent
	d.Notes = slices.Clip(d.Notes)
	says := func(format string, args ...any) { d.Notes = append(d.Notes, fmt.Sprintf(format, args...)) }
	if d.Agent.Name == Default {
		says("the agent %s stands in the configuration alone, since all others are held to what it may do", Default)
	}
	a := &d.Agent
	a.Dialect, a.View, a.Busy = cmp.Or(a.Dialect, sdk.DialectTools), cmp.Or(a.View, sdk.ViewTranscript), cmp.Or(a.Busy, "queue")
	switch asked := a.Mode; {
	case asked != "" && !asked.Valid():
		says("there is no mode %q, so that it has that of the agent default", asked)
	case asked.AsksLess(usual.Mode):
		says("the mode %s asks less than the %s of the agent default, which it has", asked, usual.Mode)
	}
	if !a.Mode.Valid() || a.Mode.AsksLess(usual.Mode) {
		a.Mode = usual.Mode
	}
	if a.WithoutView != sdk.ModeInteractive { // which asks most
		a.WithoutView = usual.WithoutView
	}
	a.Guards = config.Workspace{Guards: a.Guards}.Restrict(c.cfg.GuardsLike(usual, a.Dialect))
	a.Context = usual.Context
	if usual.Offline() {
		if a.Network != nil && !a.Offline() {
			says("it has no network, since the agent default has none")
		}
		a.Network = usual.Network
	}
	a.Bound = &c.bound
	var beyond []string
	if a.Agents, beyond = within(a.Agents, usual.Agents); len(beyond) > 0 {
		says("it may not delegate to %s, since the agent default may not", strings.Join(beyond, ", "))
	}
	if usual.Skills != nil && a.Skills == nil {
		a.Skills = usual.Skills
	} else if usual.Skills != nil {
		if a.Skills, beyond = within(a.Skills, usual.Skills); len(beyond) > 0 {
			says("it may not use the skills %s, since the agent default may not", strings.Join(beyond, ", "))
		}
	}
	if a.Model != "" && !c.cfg.HasModel(a.Model) {
		says("there is no model %s in the configuration, so that it has the prompt's", a.Model)
		a.Model = ""
	}
	if f := a.Finish; f != nil && f.Validator != "" && !c.hasPlugin(f.Validator) {
		says("there is no plugin %s in the configuration, and without it nothing that the agent hands back is taken", f.Validator)
	}
	return d
}

// bounds are the globs over the tools that a definition outside of the configuration may have: all that the agent default has, and where
// its model is taught its tools, those of plugins that do the same.
func bounds(usual sdk.Agent) []string {
	if !usual.Taught() {
		return usual.Tools
	}
	has := usual.Has()
	return append(has, sdk.StoodFor(has)...)
}

// within are those of a list that another has, and those that it has not.
func within(list, of []string) (in, beyond []string) {
	in = make([]string, 0, len(list)) // none is not the same as all
	for _, x := range list {
		if slices.Contains(of, x) {
			in = append(in, x)
		} else {
			beyond = append(beyond, x)
		}
	}
	return in, beyond
}

func (c *configured) hasPlugin(label string) bool {
	return slices.ContainsFunc(c.cfg.Plugins, func(p config.Plugin) bool { return p.Label == label })
}
