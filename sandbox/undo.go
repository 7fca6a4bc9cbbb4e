package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// undo takes changes to protected paths back, and keeps a copy of each.
type undo struct {
	root   *os.Root
	runDir string
	// about is told of a path before anything is done about it.
	about func(path string)
	// keepDir is made when the first copy is kept.
	keepDir string
	done    []Violation
}

// look is [look], also at what a command closed to its owner.
func (u *undo) look(path string) (state, error) {
	s, err := look(u.root, path)
	if errors.Is(err, fs.ErrPermission) {
		regain(u.root, path)
		s, err = look(u.root, path)
	}
	return s, err
}

func (u *undo) report(path string, err error) {
	u.done = append(u.done, Violation{Path: path, Action: ActionReported, Detail: err.Error()})
}

// watched removes what appeared, and makes a link again that was there before.
func (u *undo) watched(w watched, now state) {
	u.about(now.At)
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

// regain gives their owner access to the folders on the way to a path.
func regain(root *os.Root, path string) {
	for i, c := range path {
		if c != filepath.Separator {
			continue
		}
		if info, err := root.Lstat(path[:i]); err == nil && info.IsDir() && info.Mode().Perm()&0o700 != 0o700 {
			_ = root.Chmod(path[:i], info.Mode().Perm()|0o700)
		}
	}
}

// reopen opens a project, also when a command closed it to its owner.
func reopen(path string) (*os.Root, error) {
	root, err := os.OpenRoot(path)
	if !errors.Is(err, fs.ErrPermission) {
		return root, err
	}
	info, statErr := os.Lstat(path)
	if statErr != nil || !info.IsDir() || os.Chmod(path, info.Mode().Perm()|0o700) != nil {
		return nil, err
	}
	return os.OpenRoot(path)
}
