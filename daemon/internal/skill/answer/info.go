package answer

import (
	"context"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// mostFiles is how many files of a skill are named.
const mostFiles = 200

// Skill implements server.Skills. Of the files beside the SKILL.md nothing but
// the names are shown.
func (a *Answers) Skill(ctx context.Context, p rpc.SkillQuery) (rpc.SkillInfo, error) {
	c, err := a.cfg.Library.Catalogue(ctx, p.Project)
	if err != nil {
		return rpc.SkillInfo{}, err
	}
	counts, others, err := counting(c, p.Name)
	if err != nil {
		return rpc.SkillInfo{}, err
	}
	info := rpc.SkillInfo{Skill: counts.Skill, Body: counts.Body}
	for _, d := range others {
		info.Others = append(info.Others, d.Skill)
	}
	if !counts.Loaded {
		return info, nil // it may be a link that leads where nobody should look
	}
	files, more, err := skill.Files(counts.Folder)
	if err != nil {
		a.cfg.Log.Debug("the files of a skill cannot be listed", "skill", p.Name, "error", err)
		return info, nil
	}
	if n := len(files); n > mostFiles {
		files, more = files[:mostFiles], more+n-mostFiles
	}
	info.Files, info.More = files, more
	return info, nil
}

// counting is the document that a name stands for, and the others of that name.
func counting(c *skill.Catalogue, name string) (*skill.Document, []*skill.Document, error) {
	all := c.Named(name)
	if len(all) == 0 {
		if similar := c.Similar(name); len(similar) > 0 && name != "" {
			return nil, nil, sdk.Errorf(sdk.NotFound, "there is no skill %q; did you mean %s?", name, strings.Join(similar, " or "))
		}
		return nil, nil, sdk.Errorf(sdk.NotFound, "there is no skill %q: `bothy skills list -a` shows what there is", name)
	}
	at := max(0, slices.IndexFunc(all, func(d *skill.Document) bool {
		return d.Status == sdk.SkillEnabled || d.Status == sdk.SkillDisabled
	}))
	return all[at], slices.Delete(slices.Clone(all), at, at+1), nil
}
