package main

import (
	"context"
	"strconv"

	"github.com/bothyd/bothy/sdk/rpc"
)

type skillsPathsCmd struct {
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Help adds to the verb's help.
func (skillsPathsCmd) Help() string {
	return `A skill of a folder that stands higher hides those of its name below. The skills block of the configuration says whether .agents/skills, .claude/skills and the bundled ones count. A folder that is not there yet is waited for.

Example:

    bothy skills paths --json | jq -r '.[] | select(.tier == "user") | .path'
`
}

// Run prints one line a folder.
func (cmd skillsPathsCmd) Run(ctx context.Context, c *console) error {
	project, err := c.skillsOf(cmd.Project)
	if err != nil {
		return err
	}
	cl, err := c.connect(ctx)
	if err != nil {
		return err
	}
	defer c.close(cl)
	found, err := cl.Skills(ctx, rpc.SkillQuery{Project: project})
	if err != nil {
		return err
	}
	if c.json {
		return c.printJSON(found.Folders)
	}
	var rows [][]string
	for _, f := range found.Folders {
		rows = append(rows, []string{string(f.Tier), strconv.Itoa(f.Skills), folderState(f), f.Path})
	}
	if err := c.table([]string{"TIER", "SKILLS", "STATE", "PATH"}, rows); err != nil {
		return err
	}
	c.folderTroubles(found.Folders)
	return nil
}

// folderState says how a change in a folder is found.
func folderState(f rpc.SkillFolder) string {
	switch {
	case !f.Exists:
		return "not there"
	case f.Watching == "polling":
		return "polled"
	default:
		return "watched"
	}
}
