package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type agentsCmd struct {
	Ls    agentsLsCmd                `cmd:"" default:"withargs" help:"List the agents, with what each is for and where it comes from."`
	Show  agentsShowCmd              `cmd:"" help:"Show one agent whole, with the place of each attribute and whom it goes before."`
	Check offline[verbs.AgentsCheck] `cmd:"" help:"Say what is wrong with agents, where it stands, without a daemon."`
}

// Help adds to the verb's help.
func (agentsCmd) Help() string {
	return `An agent is a profile: a model, tools, a persona, guards, and what it must hand back. It stands in an agent block of your configuration, or in a Markdown file (~/.config/bothy/agents, and a project's .bothy/agents), or a plugin brings it, or it came with Bothy. Of two with one name that of the earlier of these places counts. What stands outside of the configuration has no more than the agent "default": no looser mode, no other tools.

Examples:

    bothy agents
    bothy agents show reviewer
    bothy run -a reviewer "look at the last commit"
`
}

type agentsLsCmd struct {
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Help adds to the verb's help.
func (agentsLsCmd) Help() string {
	return `A star marks the agent that a prompt gets which names none. A file of the project that nobody agreed to is listed as untrusted: no prompt gets it, and it hides no other.

Examples:

    bothy agents ls
    bothy agents ls --json | jq -r '.agents[] | select(.finishes) | .name'
`
}

// Run prints one line an agent.
func (cmd agentsLsCmd) Run(ctx context.Context, c *console) error {
	project, err := c.skillsOf(cmd.Project)
	if err != nil {
		return err
	}
	return query(ctx, c, func(cl *client.Client) (rpc.Agents, error) {
		all, err := cl.Agents(ctx, rpc.AgentsParams{Project: project, Untrusted: true})
		return rpc.Agents{Agents: all}, err
	}, func(found rpc.Agents) error {
		untrusted := 0
		var noted []string
		err := tableOf(c, found.Agents, "there are no agents", []string{"", "AGENT", "FROM", "MODEL", "MODE", "WHAT IT IS FOR"}, func(a rpc.Agent) []string {
			star := " "
			if a.Default {
				star = "*"
			}
			from := string(a.Source)
			if a.Untrusted {
				from, untrusted = "untrusted", untrusted+1
			}
			if a.Notes > 0 {
				noted = append(noted, show.Line(a.Name))
			}
			return []string{star, a.Name, from, cmp.Or(a.Model, "-"), string(a.Mode), show.Shorten(show.OneLine(a.Description), 100)}
		})
		if len(noted) > 0 {
			c.say("not all that they say holds here, and `bothy agents show` has what: %s", strings.Join(noted, ", "))
		}
		if untrusted > 0 {
			c.say("`bothy trust` shows %s of this project, for you to say yes or no", show.Plural(untrusted, "untrusted agent"))
		}
		return err
	})
}

type agentsShowCmd struct {
	Name    string `arg:"" name:"agent" complete:"agent" help:"The agent's name."`
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
	Persona bool   `help:"Print its persona and nothing else."`
}

// Help adds to the verb's help.
func (agentsShowCmd) Help() string {
	return `Shows all that holds for the agent, each attribute with where it stands, then what it says that does not hold, and the agents of its name that it goes before.

Examples:

    bothy agents show reviewer
    bothy agents show reviewer --persona
    bothy agents show reviewer --json | jq .definition.agent.finish.schema
`
}

// Run prints what is known of an agent.
func (cmd agentsShowCmd) Run(ctx context.Context, c *console) error {
	project, err := c.skillsOf(cmd.Project)
	if err != nil {
		return err
	}
	return skillError(query(ctx, c, func(cl *client.Client) (rpc.AgentDetail, error) {
		return cl.Agent(ctx, rpc.AgentParams{Project: project, Name: cmd.Name})
	}, func(a rpc.AgentDetail) error {
		if cmd.Persona {
			return c.text(a.Definition.Agent.Persona)
		}
		return c.printAgent(a)
	}))
}

func (c *console) printAgent(a rpc.AgentDetail) error {
	d := a.Definition
	state := ""
	if d.Untrusted {
		state = "untrusted: no prompt gets it until `bothy trust` has your yes"
	}
	err := c.facts(10, [][2]string{
		{"name", a.Name}, {"from", fmt.Sprintf("%s (%s)", d.Source, cmp.Or(d.Place, "-"))}, {"status", state},
		{"may", a.May}, {"tools", strings.Join(a.Tools, ", ")},
	})
	if err != nil {
		return err
	}
	if err := c.lines(""); err != nil {
		return err
	}
	if err := c.table([]string{"ATTRIBUTE", "FROM", "VALUE"}, agentRows(d)); err != nil {
		return err
	}
	if err := c.printList("what of it does not hold:", d.Notes); err != nil {
		return err
	}
	return c.printList("others of this name:", each(d.Shadowed, func(s sdk.ShadowedAgent) string {
		text := fmt.Sprintf("%s (%s)", s.Place, s.Source)
		if s.Untrusted {
			text += ": untrusted"
		}
		return text
	}))
}
