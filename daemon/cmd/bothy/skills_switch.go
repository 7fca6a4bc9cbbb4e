package main

import (
	"context"
	"fmt"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type skillsEnableCmd struct{ skillArg }

// Help adds to the verb's help.
func (skillsEnableCmd) Help() string {
	return `Writes enabled = true into the skill's block of your configuration, and nothing else there; a block that only says enabled goes where the skill is on by itself. It is in force when the command ends: the next turn of every run has the skill. What the block says goes before what the skill's own SKILL.md says.

Example:

    bothy skills enable review-change
`
}

// Run turns the skill on.
func (cmd skillsEnableCmd) Run(ctx context.Context, c *console) error { return cmd.turn(ctx, c, true) }

type skillsDisableCmd struct{ skillArg }

// Help adds to the verb's help.
func (skillsDisableCmd) Help() string {
	return `Writes enabled = false into the skill's block of your configuration, and nothing else there. It is in force when the command ends: the skill is gone from the next turn's prompt and cannot be used. What a run has loaded of it already stays with that run.

A name is off in every tier: a skill of that name that was hidden does not come in its place.

Example:

    bothy skills disable write-plugin
`
}

// Run turns the skill off.
func (cmd skillsDisableCmd) Run(ctx context.Context, c *console) error {
	return cmd.turn(ctx, c, false)
}

// turn switches the skill and says what that changed.
func (a skillArg) turn(ctx context.Context, c *console, enabled bool) error {
	return skillError(querySkills(ctx, c, a.Project, func(cl *client.Client, project string) (rpc.SkillSwitched, error) {
		return cl.EnableSkill(ctx, rpc.SkillSwitch{Name: a.Name, Enabled: enabled, Project: project})
	}, func(done rpc.SkillSwitched) error {
		text := fmt.Sprintf("skill %s is %s", a.Name, map[bool]string{true: "on", false: "off"}[enabled])
		if done.Changed {
			text += fmt.Sprintf(" (wrote %s)", done.File)
		} else {
			text += " already"
		}
		if err := c.text(text); err != nil {
			return err
		}
		if done.Note != "" {
			c.say("%s", show.Text(done.Note))
		}
		return nil
	}))
}
