package sandbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// keeper watches over the projects of one run.
type keeper struct {
	runDir   string
	paths    []string
	projects *projects
}

func newKeeper(runDir string, paths []string, all *projects) *keeper {
	return &keeper{runDir: runDir, paths: paths, projects: all}
}

// before looks at the project ahead of a command; leave ends what it begins.
func (k *keeper) before(ctx context.Context, run RunSpec) (*guarded, error) {
	return k.projects.enter(ctx, run, k.paths)
}

// after undoes what the command of a call changed. Mounted paths cannot have
// changed by the command as long as their mounts were there; exposed says that
// they were not, or that nobody knows. No process of the container may be alive
// any more.
func (k *keeper) after(g *guarded, call string, exposed bool) []Violation {
	n := k.notes(call)
	done := k.undo(g, exposed, n.about)
	n.close(done)
	return done
}

func (k *keeper) undo(g *guarded, exposed bool, about func(path string)) []Violation {
	g.shared.mu.Lock()
	defer g.shared.mu.Unlock()
	root, err := reopen(g.project)
	if err != nil {
		return []Violation{{Path: ".", Action: ActionReported, Detail: "the project cannot be opened: " + err.Error()}}
	}
	defer func() { _ = root.Close() }()
	if now, err := root.Stat("."); err != nil || !g.about(now) {
		return []Violation{{Path: ".", Action: ActionReported, Detail: "another directory was put in the place of the project while the command ran; nothing was undone there"}}
	}
	u := &undo{root: root, runDir: k.runDir, about: about}
	for _, w := range append(g.watch, g.planted(u)...) {
		now, err := u.look(w.Path)
		if err != nil {
			u.report(w.Path, err)
		} else if w.changed(now) {
			u.watched(w, now)
		}
	}
	if exposed {
		for _, m := range g.mounts {
			if m.ReadOnly {
				g.shared.restore(u, m.Path)
			}
		}
	}
	return u.done
}

// restore brings a mounted path back whose mount was gone.
func (p *project) restore(u *undo, path string) {
	want, ok := p.snapshots[path]
	if !ok {
		u.report(path, fmt.Errorf("its mount was detached, and there is no copy to compare it with: %w", p.uncopied[path]))
		return
	}
	if _, err := u.root.Lstat(filepath.Dir(path)); errors.Is(err, fs.ErrNotExist) {
		return
	}
	now, err := takeSnapshot(u.root, path, nil, false)
	if err == nil && now.equal(want) {
		return
	}
	u.about(path)
	kept, err := u.take(path)
	if err == nil {
		err = want.write(u.root)
	}
	if err != nil {
		u.report(path, err)
		return
	}
	u.done = append(u.done, Violation{Path: path, Action: ActionRestored, Kept: kept})
}
