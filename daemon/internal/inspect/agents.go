package inspect

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/schema"
)

// Taken are the agents of a manifest that the block takes, in the block's order and with the tools that it lets them
// have, and what keeps the others from being taken. What an agent does not say itself is left empty.
func (spec Spec) Taken(m *sdk.Manifest) (taken []sdk.Agent, wrong []Diagnostic) {
	for n, name := range spec.Agents {
		at := slices.IndexFunc(m.Agents, func(a sdk.AgentSpec) bool { return a.Name == name })
		switch {
		case slices.Contains(spec.Agents[:n], name):
		case at < 0:
			var has []string
			for _, a := range m.Agents {
				has = append(has, a.Name)
			}
			declares := "It declares none"
			if len(has) > 0 {
				declares = "It declares: " + strings.Join(has, ", ")
			}
			wrong = append(wrong, spec.Warn(fmt.Sprintf("its block takes the agent %q, which it does not declare", name), declares+"."))
		default:
			a, err := spec.take(m.Agents[at])
			if err != nil {
				wrong = append(wrong, spec.Warn(fmt.Sprintf("its agent %q cannot be taken", name), err.Error()+"."))
				continue
			}
			taken = append(taken, a)
		}
	}
	return taken, wrong
}

// NamedAgent is an agent that a block names: as it is taken, or what keeps it from being taken.
type NamedAgent struct {
	Name  string
	Taken sdk.Definition // empty when something is wrong
	Wrong []Diagnostic
}

// Agents are those that the blocks of a configuration take, by what is known of their plugins or these say of themselves: no
// plugin is started. Blocks that are switched off take none.
func (s *Inspector) Agents(ctx context.Context, cfg *config.Config) (all []NamedAgent) {
	for _, spec := range Blocks(cfg) {
		if spec.Off || len(spec.Agents) == 0 {
			continue
		}
		m, err := s.Manifest(ctx, spec)
		names := spec.Agents
		for n, name := range names {
			if slices.Contains(names[:n], name) {
				continue
			}
			one := NamedAgent{Name: name}
			if spec.Agents = []string{name}; err != nil {
				one.Wrong = []Diagnostic{spec.Warn(fmt.Sprintf("it is not known whether there is its agent %q", name), err.Error())}
			} else if taken, wrong := spec.Taken(&m); len(wrong) > 0 {
				one.Wrong = wrong
			} else {
				one.Taken = sdk.Definition{Agent: taken[0], Source: sdk.AgentOfPlugin, Place: spec.Instance}
			}
			all = append(all, one)
		}
	}
	return all
}

// take makes an agent of what is declared.
func (spec Spec) take(a sdk.AgentSpec) (sdk.Agent, error) {
	if err := a.Check(); err != nil {
		return sdk.Agent{}, err
	}
	out := sdk.Agent{Name: a.Name, Description: a.Description, Persona: a.Persona, Tools: a.Tools}
	if len(out.Tools) == 0 {
		out.Tools = []string{spec.Instance + "__*"} // those of its plugin
	}
	if spec.AgentTools != nil {
		asked := out.Tools
		if out.Tools = common(asked, spec.AgentTools); len(out.Tools) == 0 {
			return sdk.Agent{}, fmt.Errorf("it asks for the tools %s, and agent_tools lets it have none of these", strings.Join(asked, ", "))
		}
	}
	if len(a.Schema) > 0 {
		if _, err := schema.Compile(a.Schema); err != nil {
			return sdk.Agent{}, err
		}
		out.Finish = &sdk.FinishSpec{Schema: a.Schema, Validator: spec.Instance}
	}
	return out, nil
}

// common are patterns of what two lists of patterns both name: of each list those that a pattern of the other covers
// whole. What they share otherwise is left out.
func common(a, b []string) (both []string) {
	for _, lists := range [][2][]string{{a, b}, {b, a}} {
		for _, narrow := range lists[0] {
			if !slices.Contains(both, narrow) && slices.ContainsFunc(lists[1], func(wide string) bool { return covers(wide, narrow) }) {
				both = append(both, narrow)
			}
		}
	}
	return both
}

// covers reports whether a pattern certainly fits every name that another one fits. A star fits whatever stands in
// its place, also a part of a pattern; of all else only the same pattern and plain names are known.
func covers(wide, narrow string) bool {
	if strings.ContainsAny(wide, `?[\`) && strings.ContainsAny(narrow, `*?[\`) {
		return wide == narrow
	}
	fits, _ := path.Match(wide, narrow) // a malformed one fits nothing
	return fits
}
