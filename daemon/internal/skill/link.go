package skill

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// linkRoot is a folder tree in which links may lead. All reading goes through its
// handle, which no link leaves whatever changes meanwhile; Lstat goes by the path,
// which costs a fifth: what it says is checked again by who opens.
type linkRoot struct {
	real   string // with all links resolved
	handle *os.Root
}

// openLinkRoot is an error when the folder is not there.
func openLinkRoot(path string) (*linkRoot, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	handle, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	return &linkRoot{real, handle}, nil
}

// holds says whether the way by a link stays in the folder, which its handle
// finds out without a step outside. The link itself may be absolute: what is behind
// the folder's path in it is for the handle to resolve, since .. behind another link
// leads elsewhere than its letters say.
func (a *linkRoot) holds(link string) error {
	if target, err := os.Readlink(link); err == nil && filepath.IsAbs(target) {
		link = target
	}
	rel, inside := below(a.real, link)
	if !inside {
		return fmt.Errorf("%w: %s", errEscape, link)
	}
	_, err := a.handle.Stat(cmp.Or(strings.TrimLeft(rel, "/"), "."))
	switch {
	case errors.Is(err, syscall.ELOOP):
		return errLoop
	case err != nil && strings.Contains(err.Error(), "escapes"):
		return errEscape
	}
	return err
}

// below is what path is relative to folder, "." for itself.
func below(folder, path string) (string, bool) {
	if path == folder {
		return ".", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// Why a link is not followed.
var (
	errEscape = errors.New("it leads out of the folders that are allowed")
	errLoop   = errors.New("it leads back to itself")
)

// linkRoots are where links of one folder may lead; the first is that folder.
type linkRoots []*linkRoot

// follow is where the symbolic link at a path leads. What lies outside of the
// roots is not opened.
func (as linkRoots) follow(link string) (real string, err error) {
	if _, err := os.Stat(link); errors.Is(err, syscall.ELOOP) {
		return "", errLoop
	}
	real, err = filepath.EvalSymlinks(link)
	if err == nil && !slices.ContainsFunc(as, func(a *linkRoot) bool { _, in := below(a.real, real); return in }) {
		err = fmt.Errorf("%w: %s", errEscape, real)
	}
	return real, err
}

// open opens for reading what Lstat called a folder or a regular file, at a path
// without links. It waits for nothing and follows no link, should it be something
// else by now.
func (as linkRoots) open(real string) (*os.File, error) {
	for _, a := range as {
		if rel, in := below(a.real, real); in {
			return a.handle.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
		}
	}
	return nil, errEscape
}
