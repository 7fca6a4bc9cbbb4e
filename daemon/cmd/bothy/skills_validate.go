package main

import "context"

type skillsValidateCmd struct {
	Paths []string `arg:"" optional:"" name:"path" complete:"dir" help:"Folders to look through, or files; the working directory when there is none."`
}

// Help adds to the verb's help.
func (skillsValidateCmd) Help() string {
	return `Looks through folders for files called SKILL.md and says of each what is wrong or odd, in which line, and what to do. The exit code is 1 when one cannot be loaded. No link is followed and nothing is executed.

Examples:

    bothy skills validate ~/.agents/skills
    bothy skills validate --json . | jq -r '.skills[] | select(.loaded | not) | .path'
`
}

// Run needs no daemon.
func (cmd skillsValidateCmd) Run(ctx context.Context, c *console) error {
	return c.passThrough(ctx, append([]string{"skills", "validate", "--"}, cmd.Paths...)...)
}
