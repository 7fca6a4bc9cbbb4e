package main

import "context"

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
