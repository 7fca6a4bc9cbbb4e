package daemon

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/daemon/internal/builtin"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/daemon/internal/skill/answer"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// aboutBundled is what problems with the bundled skills are about.
const aboutBundled about = "the bundled skills"

// startSkills begins to follow the skills. It does not wait for what is found:
// the first catalogue does. Without the bundled ones the daemon works, and says
// so.
func (d *Daemon) startSkills(context.Context) error {
	carried, err := fs.Sub(bothy.Skills, "skills")
	if err == nil {
		d.bundled, err = skill.Bundled(filepath.Join(d.paths.Prefix, "share", "bothy", "skills"), carried, filepath.Join(d.paths.Data, "skills"), sdk.Version)
	}
	if err != nil {
		d.problem(aboutBundled, "the bundled skills are not whole: "+err.Error())
	}
	log := d.log.Named("skills")
	trust := answer.NewTrust(d.store, log)
	l, err := skill.NewLibrary(answer.Settings(d.cfg, d.bundled), skill.Options{Log: log, Trusted: trust.Trusts, Answered: trust.Answered})
	if err != nil {
		return err
	}
	d.skills = l
	d.work.add("skills", l.Close)
	l.OnChange(d.skillsChanged)
	d.copies = skill.Copies{Trusted: trust.Trusts, Runs: d.store}
	d.answers = answer.New(answer.Config{
		Log: log, Library: l, Trust: trust, Current: d.current, Load: d.loadWhole, Reload: d.Reload,
		Tools:   d.host.Tools,
		Resolve: d.models.Resolve,
		Keep: func(ctx context.Context, project string, w ...sdk.Write) error {
			return d.engine.Keep(ctx, project, w...)
		},
	})
	return nil
}

// loadWhole reads the configuration as its file is now.
func (d *Daemon) loadWhole() (path string, cfg *config.Config, err error) {
	path, cfg, diags := LoadConfig(d.file, d.secrets)
	if cfg == nil {
		err = errors.New(d.secrets.Redact(diags.Error()))
	}
	return path, cfg, err
}

// skillsChanged hears of every change of a catalogue.
func (d *Daemon) skillsChanged(c skill.Change) {
	d.log.Info("skills changed", "project", c.Project, "added", c.Added, "changed", c.Changed, "removed", c.Removed)
	d.clients.SkillsChanged(rpc.SkillsChanged{Project: c.Project, Added: c.Added, Changed: c.Changed, Removed: c.Removed})
}

// ownTools are the tools that belong to no plugin.
func (d *Daemon) ownTools() *builtin.Builtin {
	return builtin.New(builtin.Config{
		Catalogue: d.skills.Catalogue,
		Budget:    func() float64 { return d.current().Skills.Budget },
		Entries:   d.store,
		Copies:    d.copies,
		Execute:   plugins{d.host}.Execute,
		Network:   d.rules,
	})
}
