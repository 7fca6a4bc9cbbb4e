package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// keeper is a project's protection over the life of a run: what it was before
// the command, and how it is brought back.
type keeper struct {
	runDir    string
	paths     []string
	snapshots map[string]snapshot
	// uncopied are paths that cannot be kept, and why: they are not read
	// again before every command.
	uncopied map[string]error
}

func newKeeper(runDir string, paths []string) *keeper {
	return &keeper{runDir: runDir, paths: paths, snapshots: make(map[string]snapshot), uncopied: make(map[string]error)}
}

// before looks at the project ahead of a command.
func (k *keeper) before(project string) (*protection, error) {
	p, err := protect(project, k.paths)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(project)
	if err != nil {
		return nil, failed("open the project", err)
	}
	defer func() { _ = root.Close() }()
	for _, m := range p.mounts {
		if !m.ReadOnly || k.uncopied[m.Path] != nil {
			continue
		}
		s, err := takeSnapshot(root, m.Path, k.snapshots[m.Path], true)
		if err != nil {
			k.uncopied[m.Path] = err
			delete(k.snapshots, m.Path)
			continue
		}
		k.snapshots[m.Path] = s
	}
	return p, nil
}

// after undoes what changed. Mounted paths cannot have changed by the command
// as long as their mounts were there; exposed says that they were not, or that
// nobody knows. No process of the container may be alive any more.
func (k *keeper) after(p *protection, exposed bool) []Violation {
	root, err := os.OpenRoot(p.project)
	if err != nil {
		return []Violation{{Path: ".", Action: ActionReported, Detail: "the project cannot be opened: " + err.Error()}}
	}
	defer func() { _ = root.Close() }()
	u := &undo{root: root, runDir: k.runDir}
	for _, w := range p.watch {
		now, err := look(root, w.Path)
		if err != nil {
			u.report(w.Path, err)
		} else if w.changed(now) {
			u.watched(w, now)
		}
	}
	if exposed {
		for _, m := range p.mounts {
			if m.ReadOnly {
				k.restore(u, m.Path)
			}
		}
	}
	return u.done
}

// restore brings a mounted path back whose mount was gone.
func (k *keeper) restore(u *undo, path string) {
	want, ok := k.snapshots[path]
	if !ok {
		u.report(path, fmt.Errorf("its mount was detached, and there is no copy to compare it with: %w", k.uncopied[path]))
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

// undo takes changes to protected paths back, and keeps a copy of each.
type undo struct {
	root   *os.Root
	runDir string
	// keepDir is made when the first copy is kept.
	keepDir string
	done    []Violation
}

func (u *undo) report(path string, err error) {
	u.done = append(u.done, Violation{Path: path, Action: ActionReported, Detail: err.Error()})
}

// watched removes what appeared, and makes a link again that was there before.
func (u *undo) watched(w watched, now state) {
	var kept string
	if now.Kind != kindAbsent {
		var err error
		if kept, err = u.take(now.At); err != nil {
			u.report(now.At, err)
			return
		}
	}
	v := Violation{Path: now.At, Action: ActionRemoved, Kept: kept}
	if w.Before.Kind == kindLink {
		v.Action = ActionRestored
		if now.At != w.Before.At {
			if _, err := u.take(w.Before.At); err != nil {
				u.report(w.Before.At, err)
				return
			}
		}
		if err := u.root.Symlink(w.Before.Target, w.Before.At); err != nil && !errors.Is(err, fs.ErrExist) {
			u.report(w.Before.At, err)
			return
		}
	}
	u.done = append(u.done, v)
}

// take copies a path out of the project, as far as that is possible, and
// removes it. The answer is where the copy is.
func (u *undo) take(path string) (string, error) {
	found, err := takeSnapshot(u.root, path, nil, true)
	if len(found) == 0 && (err == nil || errors.Is(err, fs.ErrNotExist)) {
		return "", nil
	}
	kept := u.keep(found)
	if err := removeTree(u.root, path); err != nil {
		return kept, fmt.Errorf("remove it: %w", err)
	}
	if kept == "" {
		return "", nil
	}
	return filepath.Join(kept, path), nil
}

// keep writes a copy below the run's directory. It is a courtesy: what cannot
// be kept is removed all the same.
func (u *undo) keep(found snapshot) string {
	if u.keepDir == "" {
		u.keepDir = filepath.Join(u.runDir, "violations", time.Now().UTC().Format("20060102T150405.000000000"))
	}
	if err := os.MkdirAll(u.keepDir, 0o700); err != nil {
		return ""
	}
	root, err := os.OpenRoot(u.keepDir)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }()
	for i := range found {
		found[i].mode &^= 0o111
		if found[i].mode.IsDir() {
			found[i].mode |= 0o700
		}
	}
	if err := found.write(root); err != nil {
		return ""
	}
	return u.keepDir
}

// removeTree removes a path even when directories in it forbid it.
func removeTree(root *os.Root, path string) error {
	err := root.RemoveAll(path)
	if err == nil {
		return nil
	}
	info, statErr := root.Lstat(path)
	if statErr != nil || !info.IsDir() {
		return err
	}
	openDirs(root, path, 0)
	return root.RemoveAll(path)
}

// openDirs gives their owner access to all directories below a path; the depth
// bound is above what the kernel lets a relative path reach.
func openDirs(root *os.Root, path string, depth int) {
	if depth > 2000 || root.Chmod(path, 0o700) != nil {
		return
	}
	dir, err := root.Open(path)
	if err != nil {
		return
	}
	entries, _ := dir.ReadDir(-1)
	_ = dir.Close()
	for _, e := range entries {
		if e.IsDir() {
			openDirs(root, filepath.Join(path, e.Name()), depth+1)
		}
	}
}

// interrupted is written before a command and removed after it: when it is
// found, a manager died in between, and nobody looked at the project since.
type interrupted struct {
	Project string    `json:"project"`
	Watch   []watched `json:"watch"`
}

const interruptedName = "command.json"

func (k *keeper) begin(p *protection) error {
	data, err := json.Marshal(interrupted{Project: p.project, Watch: p.watch})
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
	return newKeeper(runDir, nil).recover()
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
	done := k.after(&protection{project: was.Project, watch: was.Watch}, false)
	k.end()
	return done
}
