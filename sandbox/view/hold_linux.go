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

// hold moves what the command did at a path to what waits for an answer.
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
	switch {
	case mine.Kind == "":
		return frame.ViewResult{State: frame.ViewAlready}, nil
	case !meant(mine, s.Upper):
		return frame.ViewResult{}, notInView
	}
	to, hides, err := a.way(filepath.Dir(s.Path))
	if err != nil {
		return frame.ViewResult{}, err
	}
	defer to.close()
	waits, err := to.node(at.name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	if mine.Kind == kindDirectory && there.Kind == kindDirectory && !instead(waits) {
		if opaque, err := at.mine.opaque(at.name); err != nil || !opaque {
			return a.holdMode(s.Path, mine, err)
		}
	}
	below := at.there
	if hides {
		below = none
	}
	hit()
	if err := holdIn(at.mine, to, below, at.name); err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	return frame.ViewResult{State: frame.ViewDone}, nil
}

// instead says whether what waits hides a folder of the project without being one: a
// folder that comes in its place hides that too.
func instead(waits frame.ViewNode) bool { return waits.Kind != "" && waits.Kind != kindDirectory }

// holdIn moves what one folder has under a name to another, which waits. Below is the
// folder of the project under both; none where nothing of it is seen. Half done it can
// be done again.
func holdIn(mine, to, below folder, name string) error {
	n, err := mine.node(name)
	if err != nil {
		return err
	}
	waits, err := to.node(name)
	if err != nil {
		return err
	}
	hidden, err := below.node(name)
	if err != nil {
		return err
	}
	if n.Kind == kindWhiteout && hidden.Kind == "" { // only what waited is removed
		if err := removeAt(to, name); err != nil {
			return err
		}
		return unix.Unlinkat(int(mine), name, 0)
	}
	if n.Kind == kindDirectory && waits.Kind == kindDirectory {
		if opaque, err := mine.opaque(name); err != nil {
			return err
		} else if !opaque {
			return addTo(mine, to, below, name, n.Mode)
		}
	}
	if n.Kind == kindDirectory && instead(waits) {
		if err := mine.hide(name); err != nil {
			return err
		}
	}
	if waits.Kind == kindDirectory || n.Kind == kindDirectory && waits.Kind != "" {
		if err := removeAt(to, name); err != nil {
			return err
		}
	}
	return unix.Renameat(int(mine), name, int(to), name)
}

// addTo moves what lies in a folder to the one of the same name that waits.
func addTo(mine, to, below folder, name string, mode uint32) error {
	from, err := mine.open(name, unix.O_PATH)
	if err != nil {
		return err
	}
	defer from.close()
	into, err := to.open(name, unix.O_PATH)
	if err != nil {
		return err
	}
	defer into.close()
	seen := none
	if opaque, err := to.opaque(name); err != nil {
		return err
	} else if hidden, err := below.node(name); err != nil {
		return err
	} else if !opaque && hidden.Kind == kindDirectory {
		if seen, err = below.open(name, unix.O_PATH); err != nil {
			return err
		}
		defer seen.close()
	}
	names, err := from.entries(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := holdIn(from, into, seen, name); err != nil {
			return err
		}
		hit()
	}
	if err := unix.Fchmodat(int(to), name, mode, 0); err != nil { // it is a folder, and nobody else comes here
		return err
	}
	return unix.Unlinkat(int(mine), name, unix.AT_REMOVEDIR)
}

// release removes what waits at a path.
func (a *applier) release(s frame.ViewStep) (frame.ViewResult, error) {
	if a.held == none {
		return frame.ViewResult{State: frame.ViewAlready}, nil
	}
	at, name, err := a.held.parent(s.Path)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.ENOTDIR) {
		return frame.ViewResult{State: frame.ViewAlready}, nil
	}
	if err != nil {
		return frame.ViewResult{}, err
	}
	defer at.close()
	waits, err := at.node(name)
	if err != nil || waits.Kind == "" {
		return frame.ViewResult{State: frame.ViewAlready}, err
	}
	hit()
	if err := removeAt(at, name); err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	return frame.ViewResult{State: frame.ViewDone}, nil
}

func (a *applier) holdMode(path string, mine frame.ViewNode, err error) (frame.ViewResult, error) {
	if err != nil {
		return frame.ViewResult{}, err
	}
	f, _, err := a.way(path)
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
// modes that they have in the view. Hides says that one of them hides what the project
// has in it.
func (a *applier) way(path string) (_ folder, hides bool, err error) {
	at, err := a.held.open(".", unix.O_PATH)
	if err != nil {
		return none, false, err
	}
	names := strings.Split(path, "/")
	for i, name := range names {
		if name == "." {
			break
		}
		next, err := a.enter(at, name, strings.Join(names[:i+1], "/"))
		if err == nil && !hides {
			hides, err = at.opaque(name)
		}
		at.close()
		if err != nil {
			next.close()
			return none, false, err
		}
		at = next
	}
	return at, hides, nil
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
		if err := at.hide(name); err != nil {
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
