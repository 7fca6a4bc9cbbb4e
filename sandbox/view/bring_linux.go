package main

import (
	"errors"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// source is where what a step brings lies, and where that is below Dir.
func (a *applier) source(s frame.ViewStep, at place) (folder, string, string, error) {
	if s.From == 0 {
		return at.mine, at.name, "u/" + s.Path, nil
	}
	old, err := a.olds()
	return old, strconv.Itoa(s.From), "o/" + strconv.Itoa(s.From), err
}

// olds opens the folder of what came out of the project.
func (a *applier) olds() (folder, error) {
	if a.old != none {
		return a.old, nil
	}
	if err := unix.Mkdirat(int(a.dir), "o", 0o700); err != nil && !errors.Is(err, unix.EEXIST) {
		return none, err
	}
	f, err := a.dir.open("o", unix.O_PATH)
	if err == nil {
		a.old = f
	}
	return f, err
}

// bring makes a put or a swap.
func (a *applier) bring(s frame.ViewStep, at place) (frame.ViewResult, error) {
	from, name, kept, err := a.source(s, at)
	if err != nil {
		return frame.ViewResult{}, err
	}
	if a.copies {
		return a.bringCopy(s, at, from, name)
	}
	there, err := at.there.node(at.name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	mine, err := from.node(name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	put := s.Op == frame.StepPut
	switch {
	case is(there, s.Upper) && mine.Kind == "":
		return at.looked(frame.ViewAlready, "")
	case !put && is(mine, s.Lower): // also when somebody has changed the project since
		return at.looked(frame.ViewAlready, kept)
	case !put && is(there, s.Upper): // something else came out, and did not go back
		return exchangedBack(from, name, at, s.Upper, kept)
	case put && there.Kind != "":
		return frame.ViewResult{}, madeMeanwhile
	case !put && there.Kind == "":
		return frame.ViewResult{}, goneMeanwhile
	case !put && !unchanged(there, s.Lower):
		return frame.ViewResult{}, changedMeanwhile
	case !is(mine, s.Upper):
		return frame.ViewResult{}, notInView
	}
	if !s.Clean && s.From == 0 {
		if err := strip(from, name, mine.Kind); err != nil {
			return frame.ViewResult{}, err
		}
	}
	if put {
		hit()
		if err := rename(from, name, at.there, at.name, unix.RENAME_NOREPLACE); err != nil {
			return frame.ViewResult{}, err
		}
		hit()
		return at.looked(frame.ViewDone, "")
	}
	hit()
	if err := rename(from, name, at.there, at.name, unix.RENAME_EXCHANGE); err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	came, err := from.node(name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	if !sameAs(came, there) {
		return exchangedBack(from, name, at, s.Upper, kept)
	}
	return at.looked(frame.ViewDone, kept)
}

// exchangedBack is the conflict of an exchange that is undone. Where somebody has put
// something else there in that moment, what came out stays where it is kept.
func exchangedBack(from folder, name string, at place, mine frame.ViewIdentity, kept string) (frame.ViewResult, error) {
	if err := exchangeBack(from, name, at, mine); err != nil {
		return frame.ViewResult{}, err
	}
	left, err := from.node(name)
	if err == nil && !is(left, mine) {
		return frame.ViewResult{Old: kept}, changedMeanwhile
	}
	return frame.ViewResult{}, after(err, changedMeanwhile)
}

// rename is renameat2 with the conflicts behind its errors.
func rename(from folder, name string, to folder, as string, flags uint) error {
	err := unix.Renameat2(int(from), name, int(to), as, flags)
	switch {
	case errors.Is(err, unix.EEXIST):
		return madeMeanwhile
	case errors.Is(err, unix.ENOENT):
		return goneMeanwhile
	}
	return err
}

// exchangeBack undoes an exchange. When somebody has put something else there in
// that moment, that is the newest and stays.
func exchangeBack(from folder, name string, at place, mine frame.ViewIdentity) error {
	hit()
	if err := rename(from, name, at.there, at.name, unix.RENAME_EXCHANGE); err != nil {
		return err
	}
	hit()
	back, err := from.node(name)
	if err != nil || is(back, mine) {
		return err
	}
	return rename(from, name, at.there, at.name, unix.RENAME_EXCHANGE)
}
