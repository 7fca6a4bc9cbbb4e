package main

import (
	"errors"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// meant says whether the view has what a step is about; something removed has no
// identity, there is a mark in its place.
func meant(n frame.ViewNode, id frame.ViewIdentity) bool {
	if id == (frame.ViewIdentity{}) {
		return n.Kind == kindWhiteout
	}
	return is(n, id)
}

// drop removes what the command did at a path from the view.
func (a *applier) drop(s frame.ViewStep, at place) (frame.ViewResult, error) {
	mine, err := at.mine.node(at.name)
	switch {
	case err != nil:
		return frame.ViewResult{}, err
	case mine.Kind == "":
		return frame.ViewResult{State: frame.ViewAlready}, nil
	case s.Upper != frame.ViewIdentity{} && !is(mine, s.Upper):
		return frame.ViewResult{}, notInView
	}
	hit()
	if err := removeAt(at.mine, at.name); err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	return frame.ViewResult{State: frame.ViewDone}, nil
}

// hold moves what the command did at a path to what waits for an answer, where it
// takes the place of what waited there before.
func (a *applier) hold(s frame.ViewStep, at place) (frame.ViewResult, error) {
	if a.held == none {
		return frame.ViewResult{}, errors.New("the view has no folder for what is held")
	}
	mine, err := at.mine.node(at.name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	there, err := at.there.node(at.name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	if mine.Kind == kindDirectory && there.Kind == kindDirectory && meant(mine, s.Upper) {
		if opaque, err := at.mine.opaque(at.name); err != nil || !opaque {
			return a.holdMode(s.Path, mine, err)
		}
	}
	to, err := a.way(filepath.Dir(s.Path))
	if err != nil {
		return frame.ViewResult{}, err
	}
	defer to.close()
	waits, err := to.node(at.name)
	switch {
	case err != nil:
		return frame.ViewResult{}, err
	case mine.Kind == "" && (meant(waits, s.Upper) || waits.Kind == "" && s.Upper == frame.ViewIdentity{}):
		return frame.ViewResult{State: frame.ViewAlready}, nil
	case !meant(mine, s.Upper):
		return frame.ViewResult{}, notInView
	case waits.Kind == kindDirectory || mine.Kind == kindDirectory && waits.Kind != "":
		if err := removeAt(to, at.name); err != nil {
			return frame.ViewResult{}, err
		}
	}
	hit()
	if err := unix.Renameat(int(at.mine), at.name, int(to), at.name); err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	if mine.Kind == kindWhiteout && there.Kind == "" { // only what was held is removed
		if err := unix.Unlinkat(int(to), at.name, 0); err != nil {
			return frame.ViewResult{}, err
		}
	}
	return frame.ViewResult{State: frame.ViewDone}, nil
}

func (a *applier) holdMode(path string, mine frame.ViewNode, err error) (frame.ViewResult, error) {
	if err != nil {
		return frame.ViewResult{}, err
	}
	f, err := a.way(path)
	if err != nil {
		return frame.ViewResult{}, err
	}
	defer f.close()
	again, err := openat2(int(f), ".", unix.O_RDONLY|unix.O_DIRECTORY, beneath)
	if err != nil {
		return frame.ViewResult{}, err
	}
	defer again.close()
	hit()
	return frame.ViewResult{State: frame.ViewDone}, unix.Fchmod(int(again), mine.Mode)
}

// way opens a folder of what is held, and makes those that lead there, with the
// modes that they have in the view.
func (a *applier) way(path string) (folder, error) {
	at, err := a.held.open(".", unix.O_PATH)
	if err != nil {
		return none, err
	}
	names := strings.Split(path, "/")
	for i, name := range names {
		if name == "." {
			break
		}
		next, err := a.enter(at, name, strings.Join(names[:i+1], "/"))
		at.close()
		if err != nil {
			return none, err
		}
		at = next
	}
	return at, nil
}

// enter opens a folder in one of what is held. Where something else waits, the
// folder takes its place and hides what the project has.
func (a *applier) enter(at folder, name, path string) (folder, error) {
	waits, err := at.node(name)
	if err != nil {
		return none, err
	}
	if waits.Kind == kindDirectory {
		return at.open(name, unix.O_PATH)
	}
	mode, err := a.modeOf(path)
	if err != nil {
		return none, err
	}
	if err := removeAt(at, name); err != nil {
		return none, err
	}
	if err := unix.Mkdirat(int(at), name, mode); err != nil {
		return none, err
	}
	if waits.Kind != "" {
		if err := unix.Lsetxattr(at.proc()+"/"+name, xattrOpaque, []byte("y"), 0); err != nil {
			return none, err
		}
	}
	return at.open(name, unix.O_PATH)
}

// modeOf is the mode that a folder has in the view.
func (a *applier) modeOf(path string) (uint32, error) {
	for _, top := range []folder{a.upper, a.project} {
		f, err := top.open(path, unix.O_PATH)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil {
			return 0, err
		}
		defer f.close()
		n, err := f.node(".")
		return n.Mode, err
	}
	return 0o755, nil
}
