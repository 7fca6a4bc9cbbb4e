package daemon

import (
	"cmp"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/sdk"
)

// written is what is written down for projects: the configuration in force, and
// the own files of projects.
type written struct {
	current    func() *config.Config
	workspaces *config.Workspaces
}

// policy are the settings of policy in a project.
func (w written) policy(project string) policy.Settings {
	cfg := w.current()
	return settingsOf(cfg, w.workspaces.Of(cfg, project))
}

func settingsOf(cfg *config.Config, w config.Workspace) policy.Settings {
	return policy.Settings{
		Mode: cfg.Policy.Mode, Shell: cmp.Or(w.Shell, cfg.Sandbox.Shell), Broken: w.Broken, BrokenAt: w.BrokenAt,
		Rules: slices.Concat(w.Rules, cfg.Workspace.Rules, cfg.Rules),
	}
}

// narrowing is what a project's workspace, and the user's workspace block, say of
// the prompts in it.
func (w written) narrowing(project string) engine.Narrowing {
	cfg := w.current()
	own := w.workspaces.Of(cfg, project)
	return engine.Narrowing{
		Agent: cmp.Or(own.Agent, cfg.Workspace.Agent), Model: cmp.Or(own.Model, cfg.Workspace.Model), Guards: own.Restrict,
	}
}

// Judge says how the tool bash would be decided about with a command line, in the
// project that dir lies in, by the configuration and the file of the workspace.
// Rules that answers left are in the store, which only a daemon opens: they do
// not count. form goes before the configuration's when it is not empty.
func Judge(cfg *config.Config, dir, command string, mode sdk.Mode, form string) (sdk.Decision, config.Diagnostics, error) {
	root, _ := config.ProjectOf(dir)
	w, diags := config.WorkspaceOf(root, cfg)
	set := settingsOf(cfg, w)
	set.Shell = cmp.Or(form, set.Shell)
	decision, err := policy.Judge(set, root, command, mode)
	return decision, diags, err
}
