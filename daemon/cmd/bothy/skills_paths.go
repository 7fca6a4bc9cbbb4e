package main

import (
	"context"
	"strconv"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/rpc"
)

type skillsPathsCmd struct {
	Project string `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Help adds to the verb's help.
func (skillsPathsCmd) Help() string {
	return `A skill of a folder that stands higher hides those of its name below. The skills block of the configuration says which of the folders that other agents read too count, and whether the bundled ones do. A folder that is not there yet is waited for.

Example:

    bothy skills paths --json | jq -r '.[] | select(.tier == "user") | .path'
`
}

// Run prints one line a folder.
func (cmd skillsPathsCmd) Run(ctx context.Context, c *console) error {
	return querySkills(ctx, c, cmd.Project, func(cl *client.Client, project string) ([]rpc.SkillFolder, error) {
		found, err := cl.Skills(ctx, rpc.SkillQuery{Project: project})
		return found.Folders, err
	}, func(folders []rpc.SkillFolder) error {
		defer c.folderTroubles(folders)
		return tableOf(c, folders, "", []string{"TIER", "SKILLS", "STATE", "PATH"}, func(f rpc.SkillFolder) []string {
			return []string{string(f.Tier), strconv.Itoa(f.Skills), folderState(f), f.Path}
		})
	})
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
