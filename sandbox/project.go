package sandbox

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"
)

// mostIdle is how many projects are remembered in which nothing runs.
const mostIdle = 16

// projects is what a manager knows of the projects of its runs. Runs that share
// a project share what it was before their commands: else one run could plant
// what another one takes for the project's own, and brings back.
type projects struct {
	own []string // [Config.Own]
	dir string   // of the locks; empty: no other process works in these projects

	mu    sync.Mutex
	known map[string]*project
}

// project is what one was before the commands that run in it now. When none
// does, the rest is remembered only to be read again faster.
type project struct {
	// users is guarded by the lock of projects: who has it or waits for it.
	users int

	mu      sync.Mutex
	running int
	// lock is held while commands run: what the project was before them is
	// known to one manager.
	lock *os.File
	// plan is of the first of the commands that run.
	plan         *protection
	repositories repositories
	snapshots    map[string]snapshot
	// uncopied are paths that cannot be kept, and why: they are not read
	// again before every command.
	uncopied map[string]error
}

// guarded is a project while a command runs in it.
type guarded struct {
	*protection
	shared *project
	all    *projects
}

func newProjects(own []string) *projects {
	return &projects{own: own, known: make(map[string]*project)}
}

func newProject() *project {
	return &project{snapshots: make(map[string]snapshot), uncopied: make(map[string]error)}
}

// enter begins a command in a run's project; the caller leaves. A private
// workspace lies in Bothy's own data, and that is all there is of it there.
func (p *projects) enter(ctx context.Context, run RunSpec, paths []string) (*guarded, error) {
	if run.Project != "" {
		own, err := bothyPaths(run.Project, p.own)
		if err != nil {
			return nil, err
		}
		paths = slices.Concat(paths, own)
	}
	g := &guarded{shared: p.take(run.workspace()), all: p}
	if err := g.enter(ctx, run.workspace(), paths); err != nil {
		p.give(g.shared)
		return nil, err
	}
	return g, nil
}

func (g *guarded) enter(ctx context.Context, path string, paths []string) error {
	if err := g.lock(ctx, path); err != nil {
		return err
	}
	defer g.shared.mu.Unlock()
	if g.shared.running == 0 {
		plan, err := g.shared.look(path, paths)
		if err != nil {
			g.shared.unlock()
			return err
		}
		g.shared.plan = plan
	}
	g.shared.running++
	g.protection = g.shared.plan
	return nil
}

// lock takes the project's mutex when no other manager's commands run in the
// project: it waits for those.
func (g *guarded) lock(ctx context.Context, path string) error {
	for {
		g.shared.mu.Lock()
		if g.shared.running > 0 || g.all.dir == "" {
			return nil
		}
		err := g.shared.hold(g.all.dir, path)
		if err == nil {
			return nil
		}
		g.shared.mu.Unlock()
		if !errors.Is(err, errHeld) {
			return failed("lock the project", err)
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

func (p *project) hold(dir, path string) (err error) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	p.lock, err = holdFile(filepath.Join(dir, key(path)+".lock"))
	return err
}

// unlock lets commands of other managers into the project.
func (p *project) unlock() {
	if p.lock != nil {
		_ = p.lock.Close()
		p.lock = nil
	}
}

func (g *guarded) leave() {
	g.shared.mu.Lock()
	if g.shared.running--; g.shared.running == 0 {
		g.shared.unlock()
	}
	g.shared.mu.Unlock()
	g.all.give(g.shared)
}

// take finds the project at a path, whichever links lead there.
func (p *projects) take(path string) *project {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.known[path] == nil {
		p.forget()
		p.known[path] = newProject()
	}
	p.known[path].users++
	return p.known[path]
}

func (p *projects) give(shared *project) {
	p.mu.Lock()
	defer p.mu.Unlock()
	shared.users--
}

// forget makes room for one more project.
func (p *projects) forget() {
	for path, idle := range p.known {
		if len(p.known) < mostIdle {
			return
		}
		if idle.users == 0 {
			delete(p.known, path)
		}
	}
}

// look makes the plan and copies what is to be kept.
func (p *project) look(path string, paths []string) (*protection, error) {
	root, err := reopen(path)
	if err != nil {
		return nil, failed("open the project", err)
	}
	defer func() { _ = root.Close() }()
	var found []repository
	if guardsGit(paths) {
		if found, err = p.repositories.scan(root); err != nil {
			return nil, failed("look for repositories in the project", err)
		}
	}
	plan, err := protect(root, path, paths, found)
	if err != nil {
		return nil, err
	}
	if plan.folder, err = root.Stat("."); err != nil {
		return nil, failed("look at the project", err)
	}
	for _, m := range plan.mounts {
		if m.ReadOnly && p.uncopied[m.Path] == nil {
			p.copy(root, m.Path)
		}
	}
	return plan, nil
}

func (p *project) copy(root *os.Root, path string) {
	s, err := takeSnapshot(root, path, p.snapshots[path], true)
	if err != nil {
		p.uncopied[path] = err
		delete(p.snapshots, path)
		return
	}
	p.snapshots[path] = s
}

// planted are the paths of repositories that were not there before; each was
// absent, as far as it matters.
func (g *guarded) planted(u *undo) []watched {
	if !g.git {
		return nil
	}
	found, err := g.shared.repositories.scan(u.root)
	if err != nil {
		u.report(".", err)
		return nil
	}
	var out []watched
	for _, r := range found {
		if r.Path != ".git" && !slices.Contains(g.repositories, r) && !g.sealed(r.Path) && !g.moved(u.root, r) {
			out = append(out, r.planted()...)
		}
	}
	return out
}

// moved says whether a repository is one that was there before, at another path
// or copied: all that git obeys in it is as it was there, and means the same.
func (g *guarded) moved(root *os.Root, r repository) bool {
	folder := filepath.Join(g.project, r.Path)
	switch r.Kind {
	case repositoryLink:
		return false
	case repositoryFile:
		folder, _ = gitFolder(filepath.Join(g.project, r.worktree()))
	default:
		home, _ := os.UserHomeDir() // without one ~ leads nowhere
		config := []string{filepath.Join(folder, "config"), filepath.Join(folder, "config.worktree")}
		if s := readGitSettings(config, home); len(s.Files)+len(s.Hooks) > 0 {
			return false
		}
	}
	return slices.ContainsFunc(g.repositories, func(known repository) bool {
		return known.Kind == r.Kind && (r.Kind != repositoryFile || g.leads(known, folder)) && g.sameAs(root, r, known)
	})
}

// leads says whether a .git file led to this folder before the command.
func (g *guarded) leads(known repository, folder string) bool {
	s := g.shared.snapshots[known.Path]
	if len(s) != 1 {
		return false
	}
	return gitTarget(filepath.Join(g.project, known.worktree()), s[0].data) == folder
}

// sameAs compares what git obeys in a repository with a copy of another.
func (g *guarded) sameAs(root *os.Root, r, known repository) bool {
	paths, before := r.guarded(), known.guarded()
	for i := range paths {
		if g.shared.uncopied[before[i]] != nil {
			return false
		}
		now, err := takeSnapshot(root, paths[i], nil, true)
		if err != nil || !now.copies(g.shared.snapshots[before[i]], paths[i], before[i]) {
			return false
		}
	}
	return true
}
