package daemon

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/bothyd/bothy"
	"github.com/bothyd/bothy/daemon/internal/builtin"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/daemon/internal/rulebook"
	"github.com/bothyd/bothy/daemon/internal/server"
	"github.com/bothyd/bothy/daemon/internal/skill"
	"github.com/bothyd/bothy/daemon/internal/skill/answer"
	"github.com/bothyd/bothy/daemon/internal/skill/offer"
	"github.com/bothyd/bothy/daemon/internal/store"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// aboutBundled is what problems with the bundled skills are about.
const aboutBundled about = "the bundled skills"

// followSkills begins to follow the skills. It does not wait for what is found: the first catalogue does. Without the
// bundled ones the daemon works, and says so.
func (d *Daemon) followSkills(trust *answer.Trust, clients *server.Clients) *skill.Library {
	carried, err := fs.Sub(bothy.Skills, "skills")
	if err == nil {
		d.bundled, err = skill.Bundled(filepath.Join(d.paths.Prefix, "share", "bothy", "skills"), carried, filepath.Join(d.paths.Data, "skills"), sdk.Version)
	}
	if err != nil {
		d.problem(problem{about: aboutBundled, text: "the bundled skills are not whole: " + err.Error()})
	}
	l := skill.NewLibrary(answer.Settings(d.cfg, d.bundled, d.shelf()), skill.Options{
		Log: d.log.Named("skills"), Trusted: trust.Trusted,
		Changed: func(c rpc.SkillsChanged) {
			d.log.Info("skills changed", "project", c.Project, "added", c.Added, "changed", c.Changed, "removed", c.Removed)
			clients.SkillsChanged(c)
		},
	})
	d.work.add("skills", l.Close)
	return l
}

// shelf is where the skills are kept that agents found elsewhere.
func (d *Daemon) shelf() string { return filepath.Join(d.paths.Data, "offered") }

// skillAnswers answers about the skills.
func (d *Daemon) skillAnswers(trust *answer.Trust, files project.InstructionFiles) *answer.Answers {
	return answer.New(answer.Config{
		Log: d.log.Named("skills"), Library: d.library, Agents: d.agentFiles, Trust: trust, Current: d.current, Load: d.loadWhole, Reload: d.Reload,
		Tools: d.host.Tools, Models: d.models, Keep: d.engine.Keep, Agent: d.engine.AgentOf, Instructions: files.Show,
	})
}

// loadWhole reads the configuration as its file is now.
func (d *Daemon) loadWhole() (path string, cfg *config.Config, err error) {
	path, cfg, diags := LoadConfig(d.file, d.secrets)
	if cfg == nil {
		err = errors.New(d.secrets.Redact(diags.Error()))
	}
	return path, cfg, err
}

// ownTools are the tools that belong to no plugin.
func (d *Daemon) ownTools(entries *store.Store, copies skill.Copies, network *rulebook.Book, mayRead func(project string) func(at string) error) *builtin.Builtin {
	return builtin.New(builtin.Config{
		Catalogue: d.library.Catalogue,
		Budget:    func() float64 { return d.current().Skills.Budget },
		Entries:   entries,
		Copies:    copies,
		Offers:    offer.New(d.shelf(), offer.Options{Trusted: copies.Trusted, MayRead: mayRead, Check: d.library.Check}),
		Execute:   plugins{d.host}.Execute,
		Verbs:     d.verbs,
		Network:   network,
	})
}
