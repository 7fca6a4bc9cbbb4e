package answer

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Enable implements server.Skills. The answer means that the switch is in force,
// so that nothing is written into a file that could not be taken then.
func (a *Answers) Enable(ctx context.Context, p rpc.SkillSwitch) (rpc.SkillSwitched, error) {
	a.switching.Lock()
	defer a.switching.Unlock()
	c, err := a.cfg.Library.Catalogue(ctx, p.Project)
	if err != nil {
		return rpc.SkillSwitched{}, err
	}
	was, _, err := counting(c, p.Name)
	if err != nil {
		return rpc.SkillSwitched{}, err
	}
	path, cfg, err := a.cfg.Load()
	if err != nil {
		return rpc.SkillSwitched{}, sdk.Errorf(sdk.Validation, "%s cannot be used as it is, so that nothing is written into it; mend this first:\n%w", path, err)
	}
	out := rpc.SkillSwitched{File: path}
	if !isSo(was, cfg.Skills, p.Enabled) {
		if was.Off != p.Enabled { // it is so by itself
			out.Changed, err = config.UnsetSkill(path, p.Name)
		}
		if err == nil && !out.Changed {
			out.Changed, err = config.SetSkill(path, p.Name, p.Enabled)
		}
		if err != nil {
			return out, err
		}
	}
	if err := a.cfg.Reload(ctx); err != nil { // also when nothing was written: an editor may have saved just now
		return out, err
	}
	if c, err = a.cfg.Library.Catalogue(ctx, p.Project); err != nil || !p.Enabled {
		return out, nil
	}
	switch now, _, err := counting(c, p.Name); {
	case err != nil:
		out.Note = "it is not there any more"
	case now.Status != sdk.SkillEnabled:
		out.Note = "it cannot be used for another reason: " + now.Reason
	}
	return out, nil
}

// isSo reports whether a skill is switched like that without being written down:
// what a block says goes before what the skill says of itself.
func isSo(d *skill.Document, s config.Skills, enabled bool) bool {
	if is := s.Switched(d.Name); is != nil {
		return *is == enabled
	}
	return d.Off != enabled
}
