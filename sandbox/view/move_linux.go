package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// move moves what the command did at a path to the same path aside.
func (a *applier) move(s frame.ViewStep, at place) (frame.ViewResult, error) {
	mine, err := at.mine.node(at.name)
	switch {
	case err != nil:
		return frame.ViewResult{}, err
	case mine.Kind == "":
		return frame.ViewResult{State: frame.ViewAlready}, nil
	case s.Upper != frame.ViewIdentity{} && !is(mine, s.Upper):
		return frame.ViewResult{}, notInView
	}
	to, err := a.wayAside(filepath.Dir(s.Path))
	if err != nil {
		return frame.ViewResult{}, err
	}
	defer to.close()
	if err := removeAt(to, at.name); err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	if err := unix.Renameat(int(at.mine), at.name, int(to), at.name); err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	return frame.ViewResult{State: frame.ViewDone}, nil
}

// wayAside opens a folder below [frame.View.Aside], and makes those that lead there.
func (a *applier) wayAside(path string) (folder, error) {
	at, err := openPath(a.Aside, unix.O_PATH, 0)
	if err != nil {
		return none, fmt.Errorf("open the folder aside: %w", err)
	}
	for name := range strings.SplitSeq(path, "/") {
		if name == "." {
			break
		}
		if err := unix.Mkdirat(int(at), name, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
			at.close()
			return none, err
		}
		next, err := at.open(name, unix.O_PATH)
		at.close()
		if err != nil {
			return none, err
		}
		at = next
	}
	return at, nil
}
