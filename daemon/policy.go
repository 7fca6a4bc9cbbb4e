package daemon

import (
	"cmp"
	"os"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/daemon/internal/project"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// written is what is written down for projects: the configuration in force, and
// the own files of projects. say hears what is wrong with one each time that it is read.
type written struct {
	current func() *config.Config
	say     func(project string, diags config.Diagnostics)
}

// workspace is what the own file of a project says now.
func (w written) workspace(cfg *config.Config, root string) config.Workspace {
	own, diags := config.WorkspaceOf(root, cfg)
	w.say(root, diags) // also that nothing is wrong
	return own
}

// policy are the settings of policy in a project.
func (w written) policy(root string) policy.Settings {
	cfg := w.current()
	return settingsOf(cfg, root, w.workspace(cfg, root))
}

func settingsOf(cfg *config.Config, root string, w config.Workspace) policy.Settings {
	return policy.Settings{
		Mode: cfg.Policy.Mode, Shell: cmp.Or(w.Shell, cfg.Sandbox.Shell), Broken: w.Broken, BrokenAt: w.BrokenAt,
		Rules: slices.Concat(w.Rules, cfg.Workspace.Rules, cfg.Rules), Protect: protection(cfg.Protect, w.Protect), Workspace: cfg.Sandbox.For(root).Workspace,
	}
}

// obeyed are the paths of a project that are not free because git's configuration
// names them where the project begins, or because links in protected places lead to
// them.
func (w written) obeyed(root string) []protect.Finding { return obeyed(root, w.policy(root).Protect) }

func obeyed(root string, set sdk.Protection) []protect.Finding {
	return protect.Rules{Refuse: set.Refuse, Ask: set.Ask, Free: set.Free}.Obeyed(root, []string{"."})
}

// prepared is what the plugin that runs commands last said of a project. False is
// that it has said nothing.
func (d *Daemon) prepared(root string) (sdk.Prepared, bool) {
	for _, t := range d.host.Tools() {
		if t.Prepares && t.Pinned && slices.Contains(t.Grants, sdk.GrantSandbox) {
			return d.host.Prepared(t.Qualified(), root)
		}
	}
	return sdk.Prepared{}, false
}

// protection is what is protected in a project beside what is by itself: what
// its own file says adds to the user's.
func protection(user, own sdk.Protection) sdk.Protection {
	user.Refuse, user.Ask = slices.Concat(user.Refuse, own.Refuse), slices.Concat(user.Ask, own.Ask)
	return user
}

// narrowing is what a project's workspace, and the user's workspace block, say of
// the prompts in it.
func (w written) narrowing(root string) engine.Narrowing {
	cfg := w.current()
	own := w.workspace(cfg, root)
	return engine.Narrowing{
		Agent: cmp.Or(own.Agent, cfg.Workspace.Agent), Model: cmp.Or(own.Model, cfg.Workspace.Model), Guards: own.Restrict,
	}
}

// Judge says how a call would be decided about, in the project that dir lies in, by the configuration and the file of
// the workspace. Rules that answers left are in the store, which only a daemon opens: they do not count. form goes
// before the configuration's when it is not empty.
func Judge(cfg *config.Config, dir string, call policy.Trial, form string) (sdk.Decision, config.Diagnostics, error) {
	root, _ := sdk.ProjectOf(dir, os.Getenv("HOME"))
	w, diags := config.WorkspaceOf(root, cfg)
	set := settingsOf(cfg, root, w)
	set.Shell, set.View = cmp.Or(form, set.Shell), call.Mode == sdk.ModeWorkspace // who names it wants to know of it
	set.NoView = "whether a copy can be made is known where a run is (--mode workspace takes it for granted)"
	set.Found = obeyed(root, set.Protect)
	decision, err := policy.Judge(set, root, call, project.Links)
	return decision, diags, err
}
