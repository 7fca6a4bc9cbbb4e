package daemon

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Skills implements server.Skills.
func (f skillFace) Skills(ctx context.Context, p rpc.SkillQuery) (rpc.Skills, error) {
	c, err := f.d.skills.Catalogue(ctx, p.Project)
	if err != nil {
		return rpc.Skills{}, err
	}
	var out rpc.Skills
	for _, d := range c.All() {
		if (p.Name == "" || d.Name == p.Name) && (p.Status == "" || d.Status == p.Status) {
			out.Skills = append(out.Skills, d.Skill)
		}
	}
	out.Folders = skillFolders(f.d.skills.Folders(p.Project))
	return out, nil
}

// skillState is how the skills are that need no workspace.
func (d *Daemon) skillState(ctx context.Context) (rpc.SkillState, error) {
	c, err := d.skills.Catalogue(ctx, "")
	if err != nil {
		return rpc.SkillState{}, err
	}
	return rpc.SkillState{Usable: len(c.Usable()), Folders: skillFolders(d.skills.Folders(""))}, nil
}

func skillFolders(states []skill.FolderState) []rpc.SkillFolder {
	out := []rpc.SkillFolder{}
	for _, s := range states {
		out = append(out, rpc.SkillFolder{
			Tier: s.Tier, Path: s.Path, Exists: s.Exists, Skills: s.Skills, Watching: s.Watching, Problem: s.Problem,
		})
	}
	return out
}
