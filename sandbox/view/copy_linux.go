package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// What cannot be renamed into the project is copied beside its place under a name
// of its own, and gets the place from there. Each stage can be told from what is
// there, so that it can be gone through again after a crash:
//
//	PROJECT/.bothy-DIR-N  the copy; after an exchange what came out
//	o/N.id                which file the copy is, once it is whole
//	o/N                   what came out, once it is whole

// apart says whether nothing can be renamed from one folder into another, which
// is so between mounts too.
func apart(a, b folder) (bool, error) {
	var one, two unix.Statx_t
	for f, st := range map[folder]*unix.Statx_t{a: &one, b: &two} {
		if err := unix.Statx(int(f), "", unix.AT_EMPTY_PATH, unix.STATX_MNT_ID, st); err != nil {
			return false, fmt.Errorf("see what is mounted where: %w", err)
		}
	}
	return one.Mnt_id != two.Mnt_id || one.Dev_major != two.Dev_major || one.Dev_minor != two.Dev_minor, nil
}

// temporary is the name of a step's copy, the same each time.
func (a *applier) temporary(number int) string {
	n, err := a.dir.node(".")
	if err != nil {
		return ""
	}
	return fmt.Sprintf(".bothy-%d-%d", n.Inode, number)
}

// bringCopy is bring where nothing can be renamed.
func (a *applier) bringCopy(s frame.ViewStep, at place, from folder, name string) (frame.ViewResult, error) {
	old, err := a.olds()
	if err != nil {
		return frame.ViewResult{}, err
	}
	temp, kept := a.temporary(s.Old), "o/"+strconv.Itoa(s.Old)
	known, err := old.readIdentity(s.Old)
	if err != nil {
		return frame.ViewResult{}, err
	}
	there, err := at.there.node(at.name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	beside, err := at.there.node(temp)
	if err != nil {
		return frame.ViewResult{}, err
	}
	put := s.Op == frame.StepPut
	switch {
	case known != (frame.ViewIdentity{}) && beside.Kind == "" && put:
		return at.looked(frame.ViewAlready, "")
	case known != (frame.ViewIdentity{}) && beside.Kind == "":
		return at.looked(frame.ViewAlready, kept)
	case known != (frame.ViewIdentity{}) && !is(beside, known) && is(beside, s.Lower):
		return a.keepBeside(s, at, temp, old, frame.ViewAlready)
	case known != (frame.ViewIdentity{}) && !is(beside, known):
		return a.copyBack(s, at, temp, known, old)
	}
	refuse := func(c error) (frame.ViewResult, error) {
		return frame.ViewResult{}, after(errors.Join(removeAt(at.there, temp), old.forget(s.Old)), c)
	}
	switch {
	case put && there.Kind != "":
		return refuse(madeMeanwhile)
	case !put && there.Kind == "":
		return refuse(goneMeanwhile)
	case !put && !unchanged(there, s.Lower):
		return refuse(changedMeanwhile)
	}
	if known == (frame.ViewIdentity{}) {
		mine, err := from.node(name)
		if err != nil {
			return frame.ViewResult{}, err
		}
		if !is(mine, s.Upper) {
			return refuse(notInView)
		}
		if known, err = a.copyBeside(s, at, temp, from, name, old); err != nil {
			return frame.ViewResult{}, err
		}
	}
	hit()
	if put {
		if err := rename(at.there, temp, at.there, at.name, unix.RENAME_NOREPLACE); errors.Is(err, madeMeanwhile) || given(err) {
			return refuse(err)
		} else if err != nil {
			return frame.ViewResult{}, err
		}
		hit()
		return at.looked(frame.ViewDone, "")
	}
	if err := rename(at.there, temp, at.there, at.name, unix.RENAME_EXCHANGE); errors.Is(err, goneMeanwhile) || given(err) {
		return refuse(err)
	} else if err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	if beside, err = at.there.node(temp); err != nil {
		return frame.ViewResult{}, err
	}
	if !sameAs(beside, there) {
		return a.copyBack(s, at, temp, known, old)
	}
	result, err := a.keepBeside(s, at, temp, old, frame.ViewDone)
	if given(err) { // what came out cannot be kept: it stays
		if back := exchangeBack(at.there, temp, at, known); back != nil {
			return frame.ViewResult{}, back
		}
		if beside, look := at.there.node(temp); look == nil && is(beside, known) {
			return refuse(err)
		}
	}
	return result, err
}

// given says whether a step is given up for an error; see [refusal].
func given(err error) bool {
	_, ok := refusal(err)
	return ok
}

// copyBeside copies what a step brings to beside its place.
func (a *applier) copyBeside(s frame.ViewStep, at place, temp string, from folder, name string, old folder) (known frame.ViewIdentity, err error) {
	if err := removeAt(at.there, temp); err != nil {
		return known, err
	}
	hit()
	c := copier{strip: s.From == 0}
	if err := c.copy(from, name, at.there, temp); err != nil {
		return known, errors.Join(err, removeAt(at.there, temp))
	}
	hit()
	n, err := at.there.node(temp)
	if err != nil {
		return known, err
	}
	if err := at.there.syncNew(temp, n.Kind); err != nil {
		return known, err
	}
	known = frame.ViewIdentity{Device: n.Device, Inode: n.Inode}
	return known, old.writeIdentity(s.Old, known)
}

// copyBack undoes the exchange of a copy, with which something else came out than
// was looked at.
func (a *applier) copyBack(s frame.ViewStep, at place, temp string, known frame.ViewIdentity, old folder) (frame.ViewResult, error) {
	there, err := at.there.node(at.name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	if !is(there, known) { // and somebody has put something there again: what came out is kept
		result, err := a.keepBeside(s, at, temp, old, frame.ViewConflict)
		return result, after(err, changedMeanwhile)
	}
	if err := exchangeBack(at.there, temp, at, known); err != nil {
		return frame.ViewResult{}, err
	}
	return frame.ViewResult{}, after(errors.Join(removeAt(at.there, temp), old.forget(s.Old)), changedMeanwhile)
}

// keepBeside moves what came out of the project from beside its place to o.
func (a *applier) keepBeside(s frame.ViewStep, at place, temp string, old folder, state string) (frame.ViewResult, error) {
	name := strconv.Itoa(s.Old)
	kept, err := old.node(name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	if kept.Kind == "" {
		if err := removeAt(old, name+".part"); err != nil {
			return frame.ViewResult{}, err
		}
		hit()
		beside, err := at.there.node(temp)
		if err == nil {
			err = (copier{}).copy(at.there, temp, old, name+".part")
		}
		if err == nil {
			err = old.syncNew(name+".part", beside.Kind)
		}
		if err != nil {
			return frame.ViewResult{}, err
		}
		if err := unix.Renameat(int(old), name+".part", int(old), name); err != nil {
			return frame.ViewResult{}, err
		}
	}
	hit()
	if err := removeAt(at.there, temp); err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	return at.looked(state, "o/"+name)
}

// takeCopy is take where nothing can be renamed.
func (a *applier) takeCopy(s frame.ViewStep, at place, old folder) (frame.ViewResult, error) {
	temp, name := a.temporary(s.Old), strconv.Itoa(s.Old)
	there, err := at.there.node(at.name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	beside, err := at.there.node(temp)
	if err != nil {
		return frame.ViewResult{}, err
	}
	kept, err := old.node(name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	switch {
	case is(beside, s.Lower):
		return a.keepBeside(s, at, temp, old, frame.ViewAlready)
	case beside.Kind != "":
		return a.putBack(s, at, temp, old)
	case kept.Kind != "":
		return at.looked(frame.ViewAlready, "o/"+name)
	case there.Kind == "":
		return frame.ViewResult{}, goneMeanwhile
	case !unchanged(there, s.Lower):
		return frame.ViewResult{}, changedMeanwhile
	}
	hit()
	if err := rename(at.there, at.name, at.there, temp, unix.RENAME_NOREPLACE); err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	if beside, err = at.there.node(temp); err != nil {
		return frame.ViewResult{}, err
	}
	if !sameAs(beside, there) {
		return a.putBack(s, at, temp, old)
	}
	result, err := a.keepBeside(s, at, temp, old, frame.ViewDone)
	if given(err) { // it cannot be kept: it stays
		if back := rename(at.there, temp, at.there, at.name, unix.RENAME_NOREPLACE); back != nil {
			return frame.ViewResult{}, back
		}
	}
	return result, err
}

// putBack returns what should not have been taken.
func (a *applier) putBack(s frame.ViewStep, at place, temp string, old folder) (frame.ViewResult, error) {
	hit()
	err := rename(at.there, temp, at.there, at.name, unix.RENAME_NOREPLACE)
	hit()
	if errors.Is(err, madeMeanwhile) {
		result, err := a.keepBeside(s, at, temp, old, frame.ViewConflict)
		return result, after(err, changedMeanwhile)
	}
	return frame.ViewResult{}, after(err, changedMeanwhile)
}

// syncNew brings a copy to the disk.
func (f folder) syncNew(name, kind string) error {
	if kind != kindDirectory {
		return f.syncAt(name)
	}
	inner, err := f.open(name, unix.O_RDONLY)
	if err != nil {
		return err
	}
	defer inner.close()
	return unix.Syncfs(int(inner))
}

func identityFile(number int) string { return strconv.Itoa(number) + ".id" }

// readIdentity is the note of which file a step's copy is; zero without one.
func (f folder) readIdentity(number int) (id frame.ViewIdentity, err error) {
	note, err := f.file(identityFile(number))
	if errors.Is(err, unix.ENOENT) {
		return id, nil
	}
	if err != nil {
		return id, err
	}
	defer note.Close()
	if _, err := fmt.Fscan(note, &id.Device, &id.Inode); err != nil {
		return frame.ViewIdentity{}, fmt.Errorf("read the note on a copy: %w", err)
	}
	return id, nil
}

func (f folder) writeIdentity(number int, id frame.ViewIdentity) error {
	name := identityFile(number)
	fd, err := unix.Openat(int(f), name+".part", unix.O_WRONLY|unix.O_CREAT|unix.O_TRUNC|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	note := os.NewFile(uintptr(fd), name)
	_, err = fmt.Fprintln(note, id.Device, id.Inode)
	if err := errors.Join(err, note.Close()); err != nil {
		return err
	}
	return unix.Renameat(int(f), name+".part", int(f), name)
}

func (f folder) forget(number int) error { return removeAt(f, identityFile(number)) }
