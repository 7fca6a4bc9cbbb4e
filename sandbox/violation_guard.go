package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
)

// violationGuard finds what the commands of one run changed on protected paths of
// its project, and undoes it.
type violationGuard struct {
	runDir   string
	projects *projects
}

func newViolationGuard(runDir string, all *projects) *violationGuard {
	return &violationGuard{runDir: runDir, projects: all}
}

// after undoes what the command of a call changed. The command cannot have changed
// a mounted path while its mount was there; exposed says that a mount was gone, or
// that nobody knows. No process of the container may be alive any more.
func (k *violationGuard) after(g *guarded, call string, exposed bool) []Violation {
	n := k.violationLog(call)
	done := k.undo(g, exposed, n.about)
	n.close(done)
	return done
}

func (k *violationGuard) undo(g *guarded, exposed bool, about func(path string)) []Violation {
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
		for _, path := range g.copied(g.shared.protector.GitNames()) {
			g.shared.restore(u, path)
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
