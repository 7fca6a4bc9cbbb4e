package main

import (
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"runtime"
	"slices"
	"sync"

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

// apply makes steps in their order. A step that somebody else's change stands in the
// way of, or that the system refuses for good, is a conflict; another failure ends it.
func (v *view) apply(steps []frame.ViewStep) (results []frame.ViewResult, err error) {
	upper, err := v.upper()
	if err != nil {
		return nil, err
	}
	defer upper.close()
	copies, err := apart(v.dir, v.project)
	if err != nil {
		return nil, err
	}
	for parts := range abreast(steps, copies) {
		made, err := v.applyAll(upper, copies, parts)
		results = append(results, made...)
		if err != nil {
			return results, err
		}
	}
	return results, nil
}

// abreast are steps in parts that are made at the same time, group after group. What is
// brought to one path depends on nothing that is brought to another: as many processors
// as there are make a long run of such steps.
func abreast(steps []frame.ViewStep, copies bool) iter.Seq[[][]frame.ViewStep] {
	brings := func(s frame.ViewStep) bool { return s.Op == frame.StepPut || s.Op == frame.StepSwap }
	return func(yield func([][]frame.ViewStep) bool) {
		for len(steps) > 0 {
			together := brings(steps[0])
			n := slices.IndexFunc(steps, func(s frame.ViewStep) bool { return brings(s) != together })
			if n < 0 {
				n = len(steps)
			}
			each := n
			if together && !copies && n >= worthHalving {
				each = (n-1)/runtime.GOMAXPROCS(0) + 1
			}
			if !yield(slices.Collect(slices.Chunk(steps[:n], each))) {
				return
			}
			steps = steps[n:]
		}
	}
}

// applyAll makes some parts at the same time. After a failure the results end with the
// step before the first that failed; later ones may be made.
func (v *view) applyAll(upper folder, copies bool, parts [][]frame.ViewStep) (results []frame.ViewResult, err error) {
	made := make([][]frame.ViewResult, len(parts))
	failures := make([]error, len(parts))
	var others sync.WaitGroup
	for i := 1; i < len(parts); i++ {
		others.Go(func() { made[i], failures[i] = v.applyPart(upper, copies, parts[i]) })
	}
	made[0], failures[0] = v.applyPart(upper, copies, parts[0])
	others.Wait()
	for i := range parts {
		results = append(results, made[i]...)
		if failures[i] != nil {
			return results, failures[i]
		}
	}
	return results, nil
}

// applyPart makes steps one after the other.
func (v *view) applyPart(upper folder, copies bool, steps []frame.ViewStep) (results []frame.ViewResult, err error) {
	a := &applier{view: v, upper: upper, copies: copies, old: none, last: place{mine: none, there: none}}
	defer func() {
		a.old.close()
		a.last.close()
	}()
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
