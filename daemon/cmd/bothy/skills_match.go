package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk/client"
	"github.com/bothyd/bothy/sdk/client/show"
	"github.com/bothyd/bothy/sdk/rpc"
)

type skillsMatchCmd struct {
	Query   []string `arg:"" help:"What has to be done, in words, or a skill's name or its begin."`
	Number  int      `short:"n" default:"10" help:"Print at most so many."`
	Project string   `placeholder:"DIR" complete:"dir" help:"The project, instead of the one that is found."`
}

// Help adds to the verb's help.
func (skillsMatchCmd) Help() string {
	return `Ranks the skills that can be used by the words of their name, tags and description. A name that the query is, or begins with, goes first. This is also how it is decided which names a prompt has room for when there are very many.

Examples:

    bothy skills match fill in a pdf form
    bothy skills match -n 1 --json "review this change" | jq -r '.matches[0].name'
`
}

// Run prints one line a skill, best first.
func (cmd skillsMatchCmd) Run(ctx context.Context, c *console) error {
	words := strings.Join(cmd.Query, " ")
	if strings.TrimSpace(words) == "" {
		return usageError{"the query is empty: say in words what has to be done"}
	}
	if cmd.Number < 1 {
		return usageError{fmt.Sprintf("-n %d prints nothing: it is how many skills to print, 1 at least", cmd.Number)}
	}
	return querySkills(ctx, c, cmd.Project, func(cl *client.Client, project string) (rpc.SkillMatches, error) {
		return cl.MatchSkills(ctx, rpc.SkillMatchQuery{Project: project, Query: words, Limit: cmd.Number})
	}, func(found rpc.SkillMatches) error {
		none := "no skill fits: `bothy skills list` shows what there is"
		return tableOf(c, found.Matches, none, []string{"SKILL", "TIER", "SCORE", "FOUND BY", "WHAT IT IS FOR"}, func(m rpc.SkillMatch) []string {
			return []string{m.Name, string(m.Tier), fmt.Sprintf("%.1f", m.Score), strings.Join(m.Terms, " "), show.Shorten(show.OneLine(m.Description), 100)}
		})
	})
}
