package config

import (
	"fmt"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/bothyd/bothy/daemon/internal/agent/finish"
	"github.com/bothyd/bothy/sdk"
)

// teamBlock is a team block.
type teamBlock struct {
	Description string    `hcl:"description,optional"`
	Agents      []string  `hcl:"agents"`
	Model       string    `hcl:"model,optional"`
	Persona     string    `hcl:"persona,optional"`
	Synthesis   cty.Value `hcl:"synthesis,optional"` // a schema: an object, or a text that is the JSON of one
	Mode        string    `hcl:"mode,optional"`
	Planner     string    `hcl:"planner,optional"`
}

// TeamOf is a team without agents, which may do what agents may that say nothing. It has no tools of plugins and of
// servers, and no skills: its agents have.
func (c *Config) TeamOf(name string) sdk.Agent {
	return sdk.Agent{
		Name: name, Dialect: sdk.DialectTools, View: sdk.ViewTranscript, Busy: "queue", Tools: []string{sdk.ToolDelegate}, MCP: []string{}, Skills: []string{},
		Mode: c.Policy.Mode, Guards: c.Guards, Team: &sdk.Team{Mode: sdk.TeamParallel},
	}
}

// team decodes a team block, which makes an agent.
func (l *loader) team(b *block) {
	var says teamBlock
	if !l.decode(b.body, &says) {
		return
	}
	a := l.cfg.TeamOf(b.label)
	a.Description, a.Agents, a.Model, a.Persona = says.Description, says.Agents, says.Model, says.Persona
	if l.says(b.body, "mode") {
		a.Team.Mode = sdk.TeamMode(says.Mode)
		l.oneOf(b.body, "mode", says.Mode, string(sdk.TeamParallel), string(sdk.TeamSequential))
	}
	for attribute, model := range map[string]string{"model": says.Model, "planner": says.Planner} {
		if model != "" {
			l.canBeModel(b.body, attribute, fmt.Sprintf("team %q names", b.label), model)
		}
	}
	a.Team.Planner = says.Planner
	l.members(b, a)
	if l.says(b.body, "synthesis") {
		schema, err := jsonOf(says.Synthesis)
		if a.Finish = (&sdk.FinishSpec{Schema: schema}); err == nil {
			err = finish.Check(*a.Finish)
		}
		if err != nil {
			l.wrong(b.body, "synthesis", "synthesis of team %q: %s. Write a JSON Schema of an object, such as { type = \"object\", properties = { summary = { type = \"string\" } }, required = [\"summary\"] }.", b.label, err)
		}
	}
	if slices.Contains(l.labels("agent"), b.label) {
		l.reportAt(b.at, "Name given twice", fmt.Sprintf("There is an agent %q too, and a prompt names both in the same way; give one of them another name.", b.label))
		return
	}
	l.cfg.Agents[b.label], l.cfg.Origins[b.label] = a, l.origin(b, a.Dialect)
}

// members checks the names of those that are in a team.
func (l *loader) members(b *block, a sdk.Agent) {
	known := l.knownAgents()
	for i, name := range a.Agents {
		switch {
		case !slices.Contains(known, name):
			l.reportAt(attributeRange(b.body, "agents"), "Unknown agent", fmt.Sprintf("%q is in the team %q, and there is no such agent; there are %v.", name, b.label, known))
		case slices.Contains(a.Agents[:i], name):
			l.wrong(b.body, "agents", "%q stands in the team %q twice.", name, b.label)
		}
	}
	if len(a.Agents) == 0 {
		l.wrong(b.body, "agents", "the team %q has no agents; name those that work on its prompts.", b.label)
	}
}
