package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// remove removes a folder with all that is in it, whatever modes it has. The
// kernel makes folders in a view that its owner may not enter.
func remove(path string) error {
	top, err := openPath(filepath.Dir(path), unix.O_PATH, 0)
	if errors.Is(err, unix.ENOENT) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	defer top.close()
	err = removeAt(top, filepath.Base(path))
	if errors.Is(err, unix.EBUSY) {
		if err = unmountInside(path); err == nil {
			err = removeAt(top, filepath.Base(path))
		}
	}
	if err != nil {
		return fmt.Errorf("remove %s: %w", path, err)
	}
	return nil
}

// unmountInside takes away what is mounted at and below a folder, such as what Podman binds
// on the folder of its layers.
func unmountInside(path string) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	all, err := mounts()
	if err != nil {
		return err
	}
	for _, m := range slices.Backward(all) {
		if m.Point != path && !inside(m.Point, path) {
			continue
		}
		if err := unix.Unmount(m.Point, unix.MNT_DETACH|unix.UMOUNT_NOFOLLOW); err != nil && !errors.Is(err, unix.EINVAL) {
			return err
		}
	}
	return nil
}

// removeAt removes what is in a folder under a name, if there is something.
func removeAt(f folder, name string) error {
	err := unix.Unlinkat(int(f), name, 0)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	if !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM) {
		return err
	}
	top, err := f.open(name, unix.O_PATH)
	if err != nil {
		return err
	}
	defer top.close()
	r := &remover{top: top}
	if err := r.empty(top, 0); err != nil {
		return err
	}
	return unix.Unlinkat(int(f), name, unix.AT_REMOVEDIR)
}

// remover removes trees of any depth with few descriptors: what is too deep is
// moved up first.
type remover struct {
	top   folder
	moved int
}

// deepest is how far down folders are emptied where they are.
const deepest = 100

// batch is how many names are read at a time.
const batch = 4096

func (r *remover) empty(f folder, depth int) error {
	for {
		names, err := f.entries(batch)
		if err != nil || len(names) == 0 {
			return err
		}
		for _, name := range names {
			if err := r.entry(f, name, depth); err != nil {
				return err
			}
		}
	}
}

func (r *remover) entry(f folder, name string, depth int) error {
	err := unix.Unlinkat(int(f), name, 0)
	if err == nil || errors.Is(err, unix.ENOENT) {
		return nil
	}
	if !errors.Is(err, unix.EISDIR) && !errors.Is(err, unix.EPERM) {
		return err
	}
	if err := unix.Unlinkat(int(f), name, unix.AT_REMOVEDIR); err == nil || !errors.Is(err, unix.ENOTEMPTY) && !errors.Is(err, unix.EEXIST) {
		return err
	}
	if depth == deepest {
		return r.raise(f, name)
	}
	inner, err := f.open(name, unix.O_PATH)
	if err != nil {
		return err
	}
	err = r.empty(inner, depth+1)
	inner.close()
	if err != nil {
		return err
	}
	return unix.Unlinkat(int(f), name, unix.AT_REMOVEDIR)
}

// raise moves a folder up to where its turn comes again.
func (r *remover) raise(f folder, name string) error {
	for {
		r.moved++
		err := unix.Renameat2(int(f), name, int(r.top), ".bothy-"+strconv.Itoa(r.moved), unix.RENAME_NOREPLACE)
		if !errors.Is(err, unix.EEXIST) {
			return err
		}
	}
}
