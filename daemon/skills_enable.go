package daemon

import (
	"context"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Enable implements server.Skills. The answer means that the switch is in force,
// so that nothing is written into a file that could not be taken then.
func (f skillFace) Enable(ctx context.Context, p rpc.SkillSwitch) (rpc.SkillSwitched, error) {
	f.d.switching.Lock()
	defer f.d.switching.Unlock()
	c, err := f.d.skills.Catalogue(ctx, p.Project)
	if err != nil {
		return rpc.SkillSwitched{}, err
	}
	was, _, err := counting(c, p.Name)
	if err != nil {
		return rpc.SkillSwitched{}, err
	}
	path, cfg, diags := LoadConfig(f.d.file, f.d.secrets)
	if cfg == nil {
		return rpc.SkillSwitched{}, sdk.Errorf(sdk.Validation, "%s cannot be used as it is, so that nothing is written into it; mend this first:\n%s", path, f.d.secrets.Redact(diags.Error()))
	}
	out := rpc.SkillSwitched{File: path}
	if !isSo(was, cfg.Skills, p.Enabled) {
		if out.Changed, err = config.SetSkill(path, p.Name, p.Enabled); err != nil {
			return out, err
		}
	}
	if err := f.d.Reload(ctx); err != nil { // also when nothing was written: an editor may have saved just now
		return out, err
	}
	out.Note = f.whatNow(ctx, p)
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

// whatNow says why a skill that was turned on cannot be used all the same.
func (f skillFace) whatNow(ctx context.Context, p rpc.SkillSwitch) string {
	c, err := f.d.skills.Catalogue(ctx, p.Project)
	if err != nil || !p.Enabled {
		return ""
	}
	if _, usable := c.Find(p.Name); usable {
		return ""
	}
	if d, _, err := counting(c, p.Name); err == nil {
		return "it cannot be used for another reason: " + d.Reason
	}
	return "it is not there any more"
}
