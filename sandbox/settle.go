package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
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
func (k *keeper) before(run RunSpec) (*guarded, error) {
	return k.projects.enter(run, k.paths)
}

// after undoes what changed. Mounted paths cannot have changed by the command
// as long as their mounts were there; exposed says that they were not, or that
// nobody knows. No process of the container may be alive any more.
func (k *keeper) after(g *guarded, exposed bool) []Violation {
	g.shared.mu.Lock()
	defer g.shared.mu.Unlock()
	root, err := reopen(g.project)
	if err != nil {
		return []Violation{{Path: ".", Action: ActionReported, Detail: "the project cannot be opened: " + err.Error()}}
	}
	defer func() { _ = root.Close() }()
	u := &undo{root: root, runDir: k.runDir}
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

// interrupted is written before a command and removed after it: when it is
// found, a manager died in between, and nobody looked at the project since.
type interrupted struct {
	Project      string       `json:"project"`
	Watch        []watched    `json:"watch"`
	Git          bool         `json:"git,omitempty"`
	Repositories []repository `json:"repositories,omitempty"`
}

const interruptedName = "command.json"

func (k *keeper) begin(g *guarded) error {
	data, err := json.Marshal(interrupted{Project: g.project, Watch: g.watch, Git: g.git, Repositories: g.repositories})
	if err != nil {
		return failed("note the command", err)
	}
	if err := os.WriteFile(filepath.Join(k.runDir, interruptedName), data, 0o600); err != nil {
		return failed("note the command", err)
	}
	return nil
}

func (k *keeper) end() {
	_ = os.Remove(filepath.Join(k.runDir, interruptedName))
}

// Recover takes back what a command planted on protected paths whose manager
// died under it, so that nobody has to wait for the run's next command. Call it
// for a run that has no container; [Open] does it for those that it takes over.
func Recover(runDir string) []Violation {
	return newKeeper(runDir, nil, newProjects(nil)).recover()
}

// Interrupted finds, among run directories, those whose last command was
// interrupted: they need [Recover].
func Interrupted(runDirs []string) []string {
	return slices.DeleteFunc(slices.Clone(runDirs), func(dir string) bool {
		_, err := os.Lstat(filepath.Join(dir, interruptedName))
		return err != nil
	})
}

// recover does what a manager that died could not: it looks at the project
// after a command that was running then.
func (k *keeper) recover() []Violation {
	data, err := os.ReadFile(filepath.Join(k.runDir, interruptedName))
	if err != nil {
		return nil
	}
	var was interrupted
	if json.Unmarshal(data, &was) != nil || !filepath.IsAbs(was.Project) ||
		slices.ContainsFunc(was.Watch, func(w watched) bool { return !filepath.IsLocal(w.Path) }) {
		k.end()
		return nil
	}
	done := k.after(&guarded{
		protection: &protection{project: was.Project, watch: was.Watch, git: was.Git, repositories: was.Repositories},
		shared:     newProject(),
	}, false)
	k.end()
	return done
}
