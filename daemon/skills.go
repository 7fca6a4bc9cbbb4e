package daemon

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// skillFace is the skills as the server shows them. Its methods stand in
// skills_*.go, by what they are about.
type skillFace struct{ d *Daemon }

// Where skills lie below a home directory and below a project, and which of
// them other agents made common.
const (
	ownSkills    = ".bothy/skills"
	agentsSkills = ".agents/skills"
	claudeSkills = ".claude/skills"
)

// startSkills begins to follow the skills. It does not wait for what is found:
// the first catalogue does.
func (d *Daemon) startSkills(context.Context) error {
	d.carried = d.unpackSkills()
	d.trust = newTrust(d.store)
	l, err := skill.NewLibrary(d.skillSettings(d.cfg), skill.Options{
		Log: d.log.Named("skills"), Trusted: d.skillTrusted, Answered: d.skillAnswered, Hash: d.skillHash,
		Changed: d.skillsChanged,
	})
	if err != nil {
		return err
	}
	d.skills = l
	d.onClose("skills", l.Close)
	return nil
}

// skillSettings are the folders of a configuration, the one that goes first
// before the others. Installers put one copy of a skill into one of the user's
// folders and links to it into the others.
func (d *Daemon) skillSettings(cfg *config.Config) skill.Settings {
	s := skill.Settings{Enabled: cfg.Skills.Switched, Workspace: []string{ownSkills}}
	var users []string
	if path, err := config.DefaultPath(); err == nil {
		users = append(users, filepath.Join(filepath.Dir(path), "skills"))
	}
	home, err := os.UserHomeDir()
	for _, x := range []struct {
		on   bool
		path string
	}{{cfg.Skills.Agents, agentsSkills}, {cfg.Skills.Claude, claudeSkills}} {
		if !x.on {
			continue
		}
		s.Workspace = append(s.Workspace, x.path)
		if err == nil {
			users = append(users, filepath.Join(home, filepath.FromSlash(x.path)))
		}
	}
	for _, path := range users {
		s.Folders = append(s.Folders, skill.Folder{Tier: sdk.TierUser, Path: path, Allow: users})
	}
	if cfg.Skills.Bundled && d.carried != "" {
		s.Folders = append(s.Folders, skill.Folder{Tier: sdk.TierBundled, Path: d.carried})
	}
	return s
}

// aboutBundled is what problems with the bundled skills are about.
const aboutBundled about = "the bundled skills"

// unpackSkills returns the folder of the bundled skills: that of the
// installation, else one that the copy in this binary is unpacked into. Without
// them the daemon works, and says so.
func (d *Daemon) unpackSkills() string {
	installed := filepath.Join(d.paths.Prefix, "share", "bothy", "skills")
	if info, err := os.Stat(installed); err == nil && info.IsDir() {
		return installed
	}
	carried, err := fs.Sub(bothy.Skills, "skills")
	folder := ""
	if err == nil {
		folder, err = skill.Unpack(carried, filepath.Join(d.paths.Data, "skills"), sdk.Version)
	}
	if err != nil {
		d.problem(aboutBundled, "the bundled skills are not whole: "+err.Error())
	}
	return folder
}

// skillsChanged hears of every change of a catalogue.
func (d *Daemon) skillsChanged(c skill.Change) {
	d.log.Info("skills changed", "project", c.Project, "added", c.Added, "changed", c.Changed, "removed", c.Removed)
	d.server.SkillsChanged(rpc.SkillsChanged{Project: c.Project, Added: c.Added, Changed: c.Changed, Removed: c.Removed})
}
