package markdown

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
)

// tools are those that the agent is to have: a list or a text of names, or a yes or no for
// each. A list in which nothing can be read is none and not all.
func (r *reader) tools() {
	name, is := r.has("tools", "allowed-tools", "allowed_tools", "allowedTools")
	if !is {
		return
	}
	given, all := []string{}, false
	take := func(e frontmatter.Element) {
		if held, not := strings.CutPrefix(e.Text, "!"); not {
			r.deny(meant(held))
			return
		}
		m := r.understand(name, e)
		all = all || m.all
		given = append(given, m.tools...)
	}
	n := r.Value(name)
	switch {
	case n.Kind == yaml.MappingNode:
		all = r.switches(name, take)
	case n.Kind == yaml.ScalarNode && strings.EqualFold(r.Text(name), "all tools"):
		all = true
	default:
		for _, e := range r.Elements(name, frontmatter.SplitTools) {
			take(e)
		}
	}
	if !all {
		r.only(given)
	}
}

// only gives the agent these tools and no others.
func (r *reader) only(tools []string) {
	a := &r.file.Agent
	for _, t := range tools {
		if !slices.Contains(a.Tools, t) {
			a.Tools = append(a.Tools, t)
		}
	}
	if len(a.Tools) == 0 {
		a.Tools = []string{noTool}
	}
}

// none leaves the agent no tool.
func (r *reader) none() { r.file.Agent.Tools = []string{noTool} }

// switches reads yes or no for each tool. It reports whether those that are not named are there
// too, which is so unless * says no.
func (r *reader) switches(name string, take func(frontmatter.Element)) (rest bool) {
	rest = true
	var on []frontmatter.Element
	for key, value := range frontmatter.Pairs(r.Value(name)) {
		e := frontmatter.Element{Text: frontmatter.ScalarText(frontmatter.Follow(key)), At: key}
		yes, known := frontmatter.YesOrNo(frontmatter.ScalarText(value))
		if !known {
			r.Warn("field-type", value, fmt.Sprintf("%s of %s is neither true nor false; it is taken for false", frontmatter.Show(e.Text), name), "Write true or false.")
		}
		switch {
		case yes:
			on = append(on, e)
		case e.Text == "*":
			rest = false
		default:
			r.deny(meant(e.Text))
		}
	}
	for _, e := range on {
		if e.Text != "*" || rest {
			take(e)
		}
	}
	return rest
}

// denied are the tools that the agent is not to have, whatever else is said.
func (r *reader) denied() {
	for _, spelling := range []string{"disallowedTools", "disallowed-tools", "disallowed_tools", "excludeTools", "exclude_tools"} {
		name, is := r.has(spelling)
		if !is {
			continue
		}
		if n := r.Value(name); n.Kind == yaml.MappingNode || slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return frontmatter.Follow(c).Kind != yaml.ScalarNode }) {
			r.none() // it is not known what was meant
		}
		for _, e := range r.Elements(name, frontmatter.SplitTools) {
			m := meant(e.Text)
			if m.pattern != "" && !m.calls {
				r.Warn("tool-pattern", e.At, fmt.Sprintf("%s in %s takes the whole tool away: what may be done with one is for policy to say", frontmatter.Show(e.Text), name), "Write a rule block of the configuration.")
			}
			r.deny(m)
		}
	}
}

// deny takes tools from the agent.
func (r *reader) deny(m meaning) {
	a := &r.file.Agent
	if m.all || m.garbled { // it is not known what was meant
		r.none()
	}
	r.alone = r.alone || m.calls
	for _, t := range withheld(m) {
		if !slices.Contains(a.Without, t) {
			a.Without = append(a.Without, t)
		}
	}
}

// understand is meant for an element of a list of what the agent is to have, with what is odd about it.
func (r *reader) understand(name string, e frontmatter.Element) meaning {
	m := meant(e.Text)
	a := &r.file.Agent
	switch {
	case m.calls && len(m.agents) == 0 && r.Key("agents") == nil:
		r.Warn("agents-missing", e.At, fmt.Sprintf("%s in %s does not say which agents it may delegate to, so that it can delegate to none", frontmatter.Show(e.Text), name), "Add a line agents: with their names.")
	case m.calls:
		for _, agent := range m.agents {
			if !slices.Contains(a.Agents, agent) {
				a.Agents = append(a.Agents, agent)
			}
		}
	case m.foreign:
		r.Warn("tool-unknown", e.At, fmt.Sprintf("%s in %s is a tool of another agent, for which Bothy has none", frontmatter.Show(e.Text), name), "Leave it out, or name a plugin's or a server's tool that does it.")
	case m.unknown && !strings.ContainsAny(e.Text, "*?["):
		r.Warn("tool-unknown", e.At, fmt.Sprintf("%s in %s is not a tool that comes with Bothy", frontmatter.Show(e.Text), name), "Check the spelling with `bothy tools`; a tool of a plugin is written plugin__tool.")
	case m.pattern != "" && !m.all:
		r.Warn("tool-pattern", e.At, fmt.Sprintf("%s in %s is taken for the whole tool: what may be done with it unasked is for policy to say", frontmatter.Show(e.Text), name), "Write a rule block of the configuration.")
	}
	return m
}
