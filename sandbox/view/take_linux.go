package main

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// take moves what the command removed out of the project.
func (a *applier) take(s frame.ViewStep, at place) (frame.ViewResult, error) {
	old, err := a.olds()
	if err != nil {
		return frame.ViewResult{}, err
	}
	if a.copies {
		return a.takeCopy(s, at, old)
	}
	name := strconv.Itoa(s.Old)
	kept := "o/" + name
	there, err := at.there.node(at.name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	taken, err := old.node(name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	switch {
	case is(taken, s.Lower):
		return at.looked(frame.ViewAlready, kept)
	case taken.Kind == kindDirectory && a.emptied(old, s):
		if is(there, s.Lower) {
			return a.takeEmpty(s, at, old, there)
		}
		return at.looked(frame.ViewAlready, kept)
	case taken.Kind != "": // something else was taken, and did not go back
		return a.takeBack(old, name, at)
	case there.Kind == "":
		return frame.ViewResult{}, goneMeanwhile
	case !unchanged(there, s.Lower):
		return frame.ViewResult{}, changedMeanwhile
	}
	hit()
	err = rename(at.there, at.name, old, name, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EACCES) && there.Kind == kindDirectory {
		return a.takeEmpty(s, at, old, there)
	}
	if err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	if taken, err = old.node(name); err != nil {
		return frame.ViewResult{}, err
	}
	if !sameAs(taken, there) {
		return a.takeBack(old, name, at)
	}
	return at.looked(frame.ViewDone, kept)
}

// emptied says whether a step takes, or took, an empty folder as takeEmpty does.
func (a *applier) emptied(old folder, s frame.ViewStep) bool {
	known, err := old.readIdentity(s.Old)
	return err == nil && known == frame.ViewIdentity{Device: s.Lower.Device, Inode: s.Lower.Inode}
}

// takeEmpty takes an empty folder that may not be moved: to move a folder takes the
// right to write into it, to remove it does not. What is kept is a folder like it; a
// note, made first, says after a crash whose place it has.
func (a *applier) takeEmpty(s frame.ViewStep, at place, old folder, there frame.ViewNode) (frame.ViewResult, error) {
	name := strconv.Itoa(s.Old)
	if err := old.writeIdentity(s.Old, frame.ViewIdentity{Device: there.Device, Inode: there.Inode}); err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	if err := unix.Mkdirat(int(old), name, 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
		return frame.ViewResult{}, err
	}
	if err := unix.Fchmodat(int(old), name, there.Mode&folderBits, 0); err != nil { // what was just made
		return frame.ViewResult{}, err
	}
	hit()
	if err := unix.Unlinkat(int(at.there), at.name, unix.AT_REMOVEDIR); err != nil {
		return frame.ViewResult{}, errors.Join(err, removeAt(old, name), old.forget(s.Old))
	}
	hit()
	return at.looked(frame.ViewDone, "o/"+name)
}

// takeBack returns what should not have been taken. Where something was made in
// its place, that stays, and what was taken is kept.
func (a *applier) takeBack(old folder, name string, at place) (frame.ViewResult, error) {
	hit()
	err := rename(old, name, at.there, at.name, unix.RENAME_NOREPLACE)
	hit()
	if errors.Is(err, madeMeanwhile) {
		return frame.ViewResult{Old: "o/" + name}, changedMeanwhile
	}
	return frame.ViewResult{}, after(err, changedMeanwhile)
}
