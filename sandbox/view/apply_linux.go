package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sandbox/frame"
)

// conflict is why a step was not made: somebody else has changed the project, or
// the view, since it was listed.
type conflict string

func (c conflict) Error() string { return string(c) }

const (
	changedMeanwhile = conflict("it was changed meanwhile")
	goneMeanwhile    = conflict("it is gone meanwhile")
	madeMeanwhile    = conflict("something was made there meanwhile")
	movedMeanwhile   = conflict("the folder that it lies in is gone, or is a link or a mount now")
	notInView        = conflict("the view does not have it any more")
)

// lasting are the errors of a step that it would have each time it is made again.
var lasting = []unix.Errno{
	unix.EACCES, unix.EPERM, unix.EROFS, unix.EXDEV, unix.ENOTEMPTY, unix.ELOOP, unix.ENAMETOOLONG,
	unix.ENOTDIR, unix.EISDIR, unix.EBUSY, unix.EINVAL, unix.EMLINK, unix.EOPNOTSUPP, unix.EOVERFLOW,
}

// refusal is the error behind another one that will not go away, if it is one: the
// step is given up. A full disk may have room later.
func refusal(err error) (unix.Errno, bool) {
	errno, ok := errors.AsType[unix.Errno](err)
	return errno, ok && slices.Contains(lasting, errno)
}

// apply makes steps one after the other. A step that somebody else's change stands
// in the way of, or that the system refuses for good, is a conflict; another failure
// ends it.
func (v *view) apply(steps []frame.ViewStep) (results []frame.ViewResult, err error) {
	upper, err := v.upper()
	if err != nil {
		return nil, err
	}
	defer upper.close()
	a := &applier{view: v, upper: upper, old: none, last: place{mine: none, there: none}}
	defer func() {
		a.old.close()
		a.last.close()
	}()
	if a.copies, err = apart(v.dir, v.project); err != nil {
		return nil, err
	}
	for _, s := range steps {
		result, err := a.step(s)
		if c, ok := errors.AsType[conflict](err); ok {
			result.State, result.Reason = frame.ViewConflict, string(c)
		} else if errno, ok := refusal(err); ok {
			result.State, result.Reason, result.Refused = frame.ViewConflict, errno.Error(), true
		} else if err != nil {
			return results, fmt.Errorf("%s %s: %w", s.Op, s.Path, err)
		}
		results = append(results, result)
	}
	return results, nil
}

// applier applies what one view has.
type applier struct {
	*view
	upper folder
	old   folder // o, once it is needed
	// copies says that nothing can be moved between the view and the project.
	copies bool
	// last has the folders of the last step, whose path begins with lastWay: the next
	// one is mostly in the same.
	last    place
	lastWay string
}

// place is a path in the view and in the project.
type place struct {
	mine, there folder // that it lies in; mine is none when the view has none
	name        string
}

func (p place) close() {
	p.mine.close()
	p.there.close()
}

// place opens both folders of a path. With [movedMeanwhile] the place has the
// view's only. It is good until the next one.
func (a *applier) place(path string) (place, error) {
	way, name := filepath.Split(path)
	if way == a.lastWay && a.last.there != none && name != "" && name != "." && name != ".." {
		a.last.name = name
		return a.last, nil
	}
	a.last.close()
	a.last, a.lastWay = place{mine: none, there: none}, way
	mine, name, err := a.upper.parent(path)
	if err != nil && !errors.Is(err, unix.ENOENT) && !errors.Is(err, unix.ENOTDIR) {
		return a.last, err
	}
	there, _, err := a.project.parent(path)
	a.last = place{mine: mine, there: there, name: name}
	return a.last, moved(err)
}

// moved is the conflict behind an error of opening something in the project.
func moved(err error) error {
	for _, e := range []error{unix.ENOENT, unix.ENOTDIR, unix.ELOOP, unix.EXDEV} {
		if errors.Is(err, e) {
			return movedMeanwhile
		}
	}
	return err
}

func (a *applier) step(s frame.ViewStep) (frame.ViewResult, error) {
	switch s.Op {
	case frame.StepMode:
		return a.mode(s)
	case frame.StepRelease:
		return a.release(s)
	}
	at, err := a.place(s.Path)
	if errors.Is(err, movedMeanwhile) && slices.Contains([]string{frame.StepHold, frame.StepDrop, frame.StepMove}, s.Op) {
		err = nil // nothing is done to the project
	}
	if err != nil {
		return frame.ViewResult{}, err
	}
	switch s.Op {
	case frame.StepPut, frame.StepSwap:
		return a.bring(s, at)
	case frame.StepTake:
		return a.take(s, at)
	case frame.StepMkdir:
		return a.mkdir(s, at)
	case frame.StepHold:
		return a.hold(s, at)
	case frame.StepDrop:
		return a.drop(s, at)
	case frame.StepMove:
		return a.move(s, at)
	}
	return frame.ViewResult{}, errors.New("there is no such step")
}

// is says whether a node is what is meant, whatever became of it.
func is(n frame.ViewNode, id frame.ViewIdentity) bool {
	return n.Kind != "" && n.Device == id.Device && n.Inode == id.Inode
}

// unchanged says whether it is that and nobody has touched it.
func unchanged(n frame.ViewNode, id frame.ViewIdentity) bool {
	return is(n, id) && (id.Changed.IsZero() || id.Changed.Equal(n.Changed) || !id.Modified.IsZero() && id.Modified.Equal(n.Modified))
}

// after is the conflict that something had to be undone for, or why it was not.
func after(undoing, c error) error {
	if undoing != nil {
		return undoing
	}
	return c
}

// sameAs says whether a node is what another was before it got another name,
// which changes its ctime.
func sameAs(n, before frame.ViewNode) bool {
	return is(n, before.Identity()) && n.Kind == before.Kind && n.Mode == before.Mode && n.Size == before.Size && n.Modified.Equal(before.Modified)
}

// looked is how a step ended, with what the project has now.
func (p place) looked(state, old string) (frame.ViewResult, error) {
	n, err := p.there.node(p.name)
	return frame.ViewResult{State: state, Old: old, Is: n}, err
}

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

func (a *applier) mkdir(s frame.ViewStep, at place) (frame.ViewResult, error) {
	there, err := at.there.node(at.name)
	if err != nil {
		return frame.ViewResult{}, err
	}
	switch there.Kind {
	case kindDirectory:
		return at.looked(frame.ViewAlready, "")
	case "":
	default:
		return frame.ViewResult{}, madeMeanwhile
	}
	hit()
	err = unix.Mkdirat(int(at.there), at.name, s.Mode&folderBits)
	if errors.Is(err, unix.EEXIST) {
		return frame.ViewResult{}, madeMeanwhile
	}
	if err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	return at.looked(frame.ViewDone, "")
}

// folderBits are the bits of a folder's mode that are applied.
const folderBits = 0o1777

// mode sets the mode of a folder of the project, which may be the project itself.
func (a *applier) mode(s frame.ViewStep) (frame.ViewResult, error) {
	f, err := a.project.open(s.Path, unix.O_RDONLY)
	if err != nil {
		return frame.ViewResult{}, moved(err)
	}
	defer f.close()
	at := place{mine: none, there: f, name: "."}
	n, err := f.node(".")
	if err != nil {
		return frame.ViewResult{}, err
	}
	mode := s.Mode&folderBits | n.Mode&unix.S_ISGID
	switch {
	case !is(n, s.Lower):
		return frame.ViewResult{}, changedMeanwhile
	case n.Mode == mode:
		return at.looked(frame.ViewAlready, "")
	case !unchanged(n, s.Lower):
		return frame.ViewResult{}, changedMeanwhile
	}
	hit()
	if err := unix.Fchmod(int(f), mode); err != nil {
		return frame.ViewResult{}, err
	}
	hit()
	return at.looked(frame.ViewDone, "")
}
