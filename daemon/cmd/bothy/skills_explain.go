package main

import (
	"context"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type skillsExplainCmd struct {
	skillArg
	Agent  string `short:"a" placeholder:"NAME" complete:"agent" help:"Of this agent's prompt; that of \"default\" when absent."`
	Model  string `short:"m" placeholder:"MODEL" complete:"model" help:"With this model, instead of the agent's: its context decides how much room there is."`
	Prompt string `placeholder:"TEXT" help:"For this prompt: it decides which names are listed when not all find room."`
}

// Help adds to the verb's help.
func (skillsExplainCmd) Help() string {
	return `Says whether an agent is told of a skill, and why: where it comes from, what hides it or turns it off, what it lacks, and whether the list has room for it. What decides stands first.

Examples:

    bothy skills explain review-change
    bothy skills explain review-change --agent chat -m ollama/qwen3 --json

The exit code is 1 when there is no skill of that name.
`
}

// Run prints the reasons.
func (cmd skillsExplainCmd) Run(ctx context.Context, c *console) error {
	return querySkills(ctx, c, cmd.Project, func(cl *client.Client, project string) (rpc.SkillExplain, error) {
		return cl.ExplainSkill(ctx, rpc.SkillExplainQuery{Project: project, Name: cmd.Name, Agent: cmd.Agent, Model: cmd.Model, Prompt: cmd.Prompt})
	}, c.printReasons, exitUnless(exitFailed, func(x rpc.SkillExplain) bool { return x.Found }))
}

func (c *console) printReasons(x rpc.SkillExplain) error {
	says := "is not in the prompt"
	if x.InPrompt {
		says = "is in the prompt"
	}
	lines := []string{x.Name + " " + says}
	for _, reason := range x.Reasons {
		lines = append(lines, "  "+reason)
	}
	if x.Shown != "" {
		lines = append(lines, "", x.Shown)
	}
	return c.lines(lines...)
}
