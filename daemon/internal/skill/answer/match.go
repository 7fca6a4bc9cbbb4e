package answer

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// fewMatches is how many are answered when nobody says how many.
const fewMatches = 10

// Match implements server.Skills.
func (a *Answers) Match(ctx context.Context, p rpc.SkillMatchQuery) (rpc.SkillMatches, error) {
	c, err := a.cfg.Library.Catalogue(ctx, p.Project)
	if err != nil {
		return rpc.SkillMatches{}, err
	}
	limit := p.Limit
	if limit <= 0 {
		limit = fewMatches
	}
	answer := rpc.SkillMatches{Matches: []rpc.SkillMatch{}}
	for _, m := range c.Match(p.Query, limit) {
		d := m.Document
		answer.Matches = append(answer.Matches, rpc.SkillMatch{Name: d.Name, Description: d.Description, Tier: d.Tier, Score: m.Score, Terms: m.Terms})
	}
	return answer, nil
}
