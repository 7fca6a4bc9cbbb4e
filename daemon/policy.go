package daemon

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/daemon/internal/policy"
	"github.com/bothyd/bothy/sdk"
)

// livePolicy decides by what is in force when it is asked: the configuration,
// the file of the project's workspace, and what answers left.
type livePolicy struct {
	current    func() *config.Config
	workspaces *workspaces
	// Remembered are the rules of answers in a project. Nil is none.
	Remembered func(project string) []sdk.PolicyRule
}

var _ engine.Policy = (*livePolicy)(nil)

// Decide implements engine.Policy.
func (p *livePolicy) Decide(a sdk.PolicyRequest) sdk.Decision {
	return policy.New(p.settings(a.Project)).Decide(a)
}

// settings are those of a project at this moment.
func (p *livePolicy) settings(project string) policy.Settings {
	cfg := p.current()
	set := settingsOf(cfg, p.workspaces.of(cfg, project))
	if p.Remembered != nil {
		set.Rules = append(set.Rules, p.Remembered(project)...)
	}
	return set
}

// Configured are the rules that are written down: of the configuration and, with
// a project, of its workspace.
func (p *livePolicy) Configured(project string) []sdk.PolicyRule {
	cfg := p.current()
	return settingsOf(cfg, p.workspaces.of(cfg, project)).Rules
}

// settingsOf are the settings of policy without what was remembered.
func settingsOf(cfg *config.Config, w config.Workspace) policy.Settings {
	set := policy.Settings{
		Leave: cfg.Policy.Leave, Shell: cfg.Sandbox.Shell, Broken: w.Broken, BrokenAt: w.BrokenAt,
		Rules: slices.Concat(w.Rules, cfg.Workspace.Rules, cfg.Rules),
	}
	if w.Shell != "" {
		set.Shell = w.Shell
	}
	return set
}

// narrowing is what a project's workspace, and the user's workspace block, say of
// the prompts in it.
func (p *livePolicy) narrowing(project string) engine.Narrowing {
	cfg := p.current()
	w := p.workspaces.of(cfg, project)
	n := engine.Narrowing{Agent: w.Agent, Model: w.Model, Guards: w.Restrict}
	if n.Agent == "" {
		n.Agent = cfg.Workspace.Agent
	}
	if n.Model == "" {
		n.Model = cfg.Workspace.Model
	}
	return n
}

// mostWorkspaces bounds how many files of workspaces are known at a time.
const mostWorkspaces = 64

// workspaces knows the own files of projects, read anew when they change. No tool
// can write them, so that their time and size tell.
type workspaces struct {
	say func(about, config.Diagnostics)

	mu    sync.Mutex
	known map[string]knownWorkspace
}

type knownWorkspace struct {
	cfg  *config.Config // against which it was read
	file fileState
	w    config.Workspace
}

// fileState tells one state of a file from another.
type fileState struct {
	ino     uint64
	size    int64
	wrote   time.Time
	missing bool
}

func newWorkspaces(say func(about, config.Diagnostics)) *workspaces {
	return &workspaces{say: say, known: map[string]knownWorkspace{}}
}

// of is what the file of a project says. Without a file it says nothing.
func (ws *workspaces) of(cfg *config.Config, project string) config.Workspace {
	if project == "" {
		return config.Silent()
	}
	file := workspaceFileOf(project)
	state := stateOf(file)
	ws.mu.Lock()
	defer ws.mu.Unlock()
	before, known := ws.known[project]
	if known && before.file == state && before.cfg == cfg {
		return before.w
	}
	w, diags := readWorkspace(cfg, file, state)
	now := knownWorkspace{cfg: cfg, file: state, w: w}
	if known || len(diags) > 0 {
		ws.say(about("the workspace "+project), diags)
	}
	if !known && len(ws.known) >= mostWorkspaces {
		for root := range maps.Keys(ws.known) { // any: it is read again when it is asked for
			delete(ws.known, root)
			break
		}
	}
	ws.known[project] = now
	return now.w
}

// readWorkspace reads a file that is in a state. One that is missing says nothing.
func readWorkspace(cfg *config.Config, file string, state fileState) (config.Workspace, config.Diagnostics) {
	if state.missing {
		return config.Silent(), nil
	}
	return config.ReadWorkspace(file, cfg)
}

// workspaceFileOf is where a project has its own configuration.
func workspaceFileOf(project string) string { return filepath.Join(project, ".bothy", "config.hcl") }

// stateOf looks at a file. One that is there and cannot be looked at is not
// missing: reading it says why.
func stateOf(file string) fileState {
	info, err := os.Stat(file)
	if err != nil {
		_, link := os.Lstat(file)
		return fileState{missing: errors.Is(link, fs.ErrNotExist) || errors.Is(link, syscall.ENOTDIR)}
	}
	state := fileState{size: info.Size(), wrote: info.ModTime()}
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		state.ino = s.Ino
	}
	return state
}
