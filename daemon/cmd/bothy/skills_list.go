package main

import (
	"context"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type skillsListCmd struct {
	All     bool   `short:"a" help:"Also those that cannot be used, each with the reason."`
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`

	again bool
}

type skillsReloadCmd struct {
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Help adds to the verb's help.
func (skillsReloadCmd) Help() string {
	return `Skills are found by themselves when they are saved. Where changes cannot be watched, as on a network's file system, they are found some seconds later: this finds them at once, and waits until they are in force.

Example:

    bothy skills reload
`
}

// Run prints one line a skill.
func (cmd skillsReloadCmd) Run(ctx context.Context, c *console) error {
	return skillsListCmd{Project: cmd.Project, again: true}.Run(ctx, c)
}

// Help adds to the verb's help.
func (skillsListCmd) Help() string {
	return `Of each name the skill that counts is listed: a project's goes before yours, yours before one that came with Bothy. With -a there are also those

    shadowed   another skill of that name counts
    disabled   by a skill block of the configuration, or by its own SKILL.md
    untrusted  it came with the project, and nobody has trusted it as it is now
    broken     its SKILL.md cannot be read

Examples:

    bothy skills list
    bothy skills list -a --json | jq -r '.skills[] | select(.status == "broken") | .path'
`
}

// Run prints one line a skill.
func (cmd skillsListCmd) Run(ctx context.Context, c *console) error {
	var all []sdk.Skill
	return querySkills(ctx, c, cmd.Project, func(cl *client.Client, project string) (rpc.Skills, error) {
		found, err := cl.Skills(ctx, rpc.SkillQuery{Project: project, Again: cmd.again})
		if all = found.Skills; !cmd.All {
			found.Skills = slices.DeleteFunc(slices.Clone(all), func(s sdk.Skill) bool { return s.Status != sdk.SkillEnabled })
		}
		return found, err
	}, func(found rpc.Skills) error {
		if err := cmd.print(c, found.Skills); err != nil {
			return err
		}
		cmd.advise(c, all)
		c.folderTroubles(found.Folders)
		return nil
	})
}

func (cmd skillsListCmd) print(c *console, skills []sdk.Skill) error {
	switch {
	case len(skills) == 0:
		return nil
	case !cmd.All:
		return tableOf(c, skills, "", []string{"SKILL", "TIER", "WHAT IT IS FOR"}, func(s sdk.Skill) []string {
			return []string{s.Name, string(s.Tier), show.Shorten(show.OneLine(s.Description), 100)}
		})
	}
	return tableOf(c, skills, "", []string{"SKILL", "TIER", "STATUS", "WHAT IT IS FOR, OR WHY NOT"}, func(s sdk.Skill) []string {
		says := show.Shorten(show.OneLine(s.Description), 100)
		if s.Status != sdk.SkillEnabled {
			says = show.OneLine(s.Reason)
		}
		return []string{s.Name, string(s.Tier), skillStatus(s), says}
	})
}

// advise says what else there is, and what would make it usable.
func (cmd skillsListCmd) advise(c *console, all []sdk.Skill) {
	count := map[sdk.SkillStatus]int{}
	for _, s := range all {
		count[s.Status]++
		if s.Stale && s.Status == sdk.SkillEnabled {
			c.say("%s is broken now, and its last good version is used: `bothy skills info %s` says where", show.Line(s.Name), show.Line(s.Name))
		}
	}
	hidden := len(all) - count[sdk.SkillEnabled]
	switch {
	case len(all) == 0:
		c.say("there are no skills: `bothy skills paths` lists where they are looked for, `bothy skills create NAME` makes one")
	case !cmd.All && hidden > 0:
		c.say("%d more cannot be used: `bothy skills list -a` says why", hidden)
	}
	if n := count[sdk.SkillUntrusted]; n > 0 {
		c.say("`bothy trust` shows %s of this project, for you to say yes or no", show.Plural(n, "untrusted skill"))
	}
}
