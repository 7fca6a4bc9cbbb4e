package main

import (
	"context"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type skillsCreateCmd struct {
	Name        string `arg:"" name:"name" help:"Its name: a to z, 0 to 9 and single hyphens, at most 64 characters."`
	Description string `short:"d" placeholder:"TEXT" help:"What it does and when to use it."`
	Code        bool   `help:"Make a code skill: a plugin of the same name executes it."`
}

// Help adds to the verb's help.
func (skillsCreateCmd) Help() string {
	return `Makes a folder with a SKILL.md in ~/.config/bothy/skills. It can be used at once; write into it what an agent should do. What is there already is never touched.

Examples:

    bothy skills create release-notes -d "Writes release notes. Use it before a release."
    bothy skills create stock-report --code
`
}

// Run prints what was made, one path a line.
func (cmd skillsCreateCmd) Run(ctx context.Context, c *console) error {
	return skillError(query(ctx, c, func(cl *client.Client) (rpc.SkillCreated, error) {
		return cl.CreateSkill(ctx, rpc.SkillCreate{Name: cmd.Name, Description: cmd.Description, Code: cmd.Code})
	}, func(made rpc.SkillCreated) error {
		if err := c.lines(made.Files...); err != nil {
			return err
		}
		if cmd.Description == "" {
			c.say("agents are told of it from now on: write into its description what it does and when to use it")
		}
		if cmd.Code {
			c.say("its plugin has to be built and configured: the first lines of its main.go say how")
		}
		return nil
	}))
}
