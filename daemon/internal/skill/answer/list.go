package answer

import (
	"cmp"
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

// Skills implements server.Skills.
func (a *Answers) Skills(ctx context.Context, p rpc.SkillQuery) (rpc.Skills, error) {
	if p.Again {
		if err := a.cfg.Library.Check(ctx, p.Project); err != nil {
			return rpc.Skills{}, err
		}
	}
	c, err := a.cfg.Library.Catalogue(ctx, p.Project)
	if err != nil {
		return rpc.Skills{}, err
	}
	var out rpc.Skills
	for _, d := range c.All() {
		if (p.Name == "" || d.Name == p.Name) && (p.Status == "" || d.Status == p.Status) {
			out.Skills = append(out.Skills, d.Skill)
		}
	}
	out.Folders = a.cfg.Library.Folders(p.Project)
	return out, nil
}

// State is how the skills are that need no workspace.
func (a *Answers) State(ctx context.Context) (rpc.SkillState, error) {
	c, err := a.cfg.Library.Catalogue(ctx, "")
	if err != nil {
		return rpc.SkillState{}, err
	}
	return rpc.SkillState{Usable: len(c.Usable()), Folders: a.cfg.Library.Folders("")}, nil
}

// fewMatches is how many are answered when nobody says how many.
const fewMatches = 10

// Match implements server.Skills.
func (a *Answers) Match(ctx context.Context, p rpc.SkillMatchQuery) (rpc.SkillMatches, error) {
	c, err := a.cfg.Library.Catalogue(ctx, p.Project)
	if err != nil {
		return rpc.SkillMatches{}, err
	}
	limit := cmp.Or(max(p.Limit, 0), fewMatches)
	answer := rpc.SkillMatches{Matches: []rpc.SkillMatch{}}
	for _, m := range c.Match(p.Query, limit) {
		d := m.Document
		answer.Matches = append(answer.Matches, rpc.SkillMatch{Name: d.Name, Description: d.Description, Tier: d.Tier, Score: m.Score, Terms: m.Terms})
	}
	return answer, nil
}
