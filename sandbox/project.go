package sandbox

import (
	"context"
	"errors"
	"fmt"
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
	protector Protector
	dir       string // of the locks; empty: no other process works in these projects

	mu    sync.Mutex
	known map[string]*project
}

// project is what one was before the commands that run in it now. When none
// does, the rest is remembered only to be read again faster.
type project struct {
	// users is guarded by the lock of projects: who has it or waits for it.
	users     int
	protector Protector

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

func newProjects(by Protector) *projects {
	return &projects{protector: by, known: make(map[string]*project)}
}

func newProject(by Protector) *project {
	return &project{protector: by, snapshots: make(map[string]snapshot), uncopied: make(map[string]error)}
}

// enter begins a command in a run's project itself; the caller leaves.
func (p *projects) enter(ctx context.Context, run RunSpec) (*guarded, error) {
	own, holder := p.protector.Own(run.Project)
	if holder != "" {
		return nil, invalid(fmt.Sprintf("the project %s lies in %s, which is Bothy's own: choose another project", run.Project, holder))
	}
	g := &guarded{shared: p.take(run.Workspace()), all: p}
	if err := g.enter(ctx, run.Workspace(), slices.Concat(p.protector.Paths(), own)); err != nil {
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
		p.known[path] = newProject(p.protector)
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
		if found, err = p.repositories.scan(root, p.protector); err != nil {
			return nil, failed("look for repositories in the project", err)
		}
	}
	plan, err := newProtection(root, path, p.protector, paths, found)
	if err != nil {
		return nil, err
	}
	if plan.folder, err = root.Stat("."); err != nil {
		return nil, failed("look at the project", err)
	}
	for _, path := range plan.copied(p.protector.GitNames()) {
		if p.uncopied[path] == nil {
			p.copy(root, path)
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
	found, err := g.shared.repositories.scan(u.root, g.shared.protector)
	if err != nil {
		u.report(".", err)
		return nil
	}
	var out []watched
	for _, r := range found {
		if r.Path != ".git" && !slices.Contains(g.repositories, r) && !g.sealed(r.Path) && !g.moved(u.root, r) {
			out = append(out, r.planted(g.shared.protector.GitNames())...)
		}
	}
	return out
}

// moved says whether a repository is one that was there before, at another path
// or copied: all that git obeys in it is as it was there, and means the same.
func (g *guarded) moved(root *os.Root, r repository) bool {
	isFile := r.Kind == repositoryFile
	if r.Kind == repositoryLink || !isFile && r.Kind != repositoryNamed && g.shared.protector.ConfiguresMore(filepath.Join(g.project, r.Path)) {
		return false
	}
	return slices.ContainsFunc(g.repositories, func(known repository) bool {
		return known.Kind == r.Kind && (!isFile || g.leads(r, known)) && g.sameAs(root, r, known)
	})
}

// leads says whether a .git file, with the text that another one had before the
// command, leads where that one did.
func (g *guarded) leads(r, known repository) bool {
	s := g.shared.snapshots[known.Path]
	if len(s) != 1 {
		return false
	}
	target := func(r repository) string {
		return g.shared.protector.GitTarget(filepath.Join(g.project, r.worktree()), s[0].data)
	}
	return target(r) == target(known)
}

// sameAs compares what git obeys in a repository with a copy of another.
func (g *guarded) sameAs(root *os.Root, r, known repository) bool {
	names := g.shared.protector.GitNames()
	paths, before := r.guarded(names), known.guarded(names)
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
