package answer

import (
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
