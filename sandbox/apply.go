package sandbox

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"github.com/bothyd/bothy/sandbox/frame"
)

// mostChanges bounds what is looked at of one command's changes; beyond, nothing
// of them is applied.
const mostChanges = 1_000_000

// settle ends a view whose command has ended: what it changed is judged, planned,
// written down and applied. No process of the container may be alive.
func (v *view) settle(ctx context.Context) (settlement, error) {
	if err := v.unmount(true); err != nil {
		return settlement{}, err
	}
	changes, err := v.viewer.list(ctx, v.spec, mostChanges)
	if err != nil {
		return v.keep(), failed("look at what the command changed", err)
	}
	if len(changes) == 0 {
		v.remove()
		return settlement{Note: v.note, Applied: true}, nil
	}
	var done settlement
	locked := false
	err = v.locked(ctx, func() (err error) {
		locked = true
		if slices.ContainsFunc(changes, func(c frame.ViewChange) bool { return !c.Newest.IsZero() || v.madeToo(c) }) {
			// Somebody may have changed what is in a folder that goes before the lock was had, or made one that comes.
			if changes, err = v.viewer.list(ctx, v.spec, mostChanges); err != nil {
				done = v.keep()
				return failed("look at what the command changed", err)
			}
		}
		done, err = v.settleChanges(ctx, changes)
		return err
	})
	if !locked { // the next command tries again
		err = errors.Join(err, v.write(endedName, true))
	}
	return done, err
}

// madeToo says whether a new folder is one that somebody else has made by now: what is in it is then looked at by itself.
func (v *view) madeToo(c frame.ViewChange) bool {
	if c.Was.Kind != "" || c.Is.Kind != NodeDirectory {
		return false
	}
	info, err := os.Lstat(filepath.Join(v.note.Project, filepath.FromSlash(c.Path)))
	return err == nil && info.IsDir()
}

// unchanged says for certain that a command changed nothing, while its view is still
// mounted: then nobody waits until it is taken away. What anybody wrote there later
// would go with it.
func (v *view) unchanged(ctx context.Context) bool {
	changes, err := v.viewer.list(ctx, v.spec, 0)
	return err == nil && len(changes) == 0
}

// leave takes away a view in which nothing was changed. One that cannot be unmounted
// keeps its note: the next command finds it.
func (v *view) leave() {
	if f := v.session.manager.beforeLeave; f != nil {
		f()
	}
	if err := v.discard(); err != nil {
		v.session.manager.logger.Warn("a view is left for the next command to take away", "run", v.note.Run, "error", err)
	}
}

// settleChanges judges, plans and applies what a command changed. Nobody else changes
// the project meanwhile: what two commands make of it together is seen by the one that
// comes second.
func (v *view) settleChanges(ctx context.Context, changes []frame.ViewChange) (settlement, error) {
	read := func(path string, most int) ([]byte, error) { return v.viewer.read(ctx, v.spec, path, most) }
	s := settler{view: v, changes: changes, waits: newWaiting(v.waiting()), read: read, out: settlement{Note: v.note, Aside: true}}
	s.rulings = s.waits.stillAsked(changes, v.judged(ctx, changes))
	s.plan()
	if err := v.addHeld(s.held); err != nil {
		return v.keep(), err
	}
	if err := v.commit(ctx, &s.out); err != nil {
		return v.keep(), err
	}
	err := v.apply(ctx, &s.out)
	return s.out, err
}

// judged asks the judge; without one everything is free.
func (v *view) judged(ctx context.Context, changes []frame.ViewChange) []Ruling {
	judge := v.session.manager.cfg.Judge
	if judge == nil {
		return make([]Ruling, len(changes))
	}
	all := make([]Change, len(changes))
	for i, c := range changes {
		all[i] = change(c)
		all[i].Busy = c.Was.Kind == NodeFile && busy(v.note.Project, c.Path)
	}
	return judge.Rule(v.note.Run, v.note.Project, v.note.Writes, all, Readers{
		After:  func(path string, most int) ([]byte, error) { return v.viewer.read(ctx, v.spec, path, most) },
		Before: func(path string, most int) ([]byte, error) { return readBelow(v.note.Project, path, most) },
	})
}

// openBelow opens a file of a folder to read it, never through a link and never
// waiting. The path has slashes.
func openBelow(folder, path string) (*os.File, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	return root.OpenFile(filepath.FromSlash(path), os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
}

// readBelow reads a file of a folder, never through a link and never waiting.
func readBelow(folder, path string, most int) ([]byte, error) {
	f, err := openBelow(folder, path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	text, err := io.ReadAll(io.LimitReader(f, int64(most)+1))
	if err == nil && len(text) > most {
		err = errViewLarge
	}
	return text, err
}

// digests names what held changes have become, so that an answer is about that. One that
// cannot be read has none, and no answer is about it.
func (v *view) digests(s *settlement) {
	for i := range s.Held {
		digest, err := digestOf(v.spec.Held, s.Held[i].Path)
		if err != nil {
			v.session.manager.logger.Warn("what waits for an answer cannot be read", "run", v.note.Run, "path", s.Held[i].Path, "error", err)
			digest = ""
		}
		s.Held[i].Digest = digest
	}
}

// commit writes the plan down, after all that it speaks of is on disk: who finds
// it after a crash can finish it.
func (v *view) commit(ctx context.Context, s *settlement) error {
	var paths []string
	for _, step := range s.Steps {
		if slices.Contains([]string{frame.StepPut, frame.StepSwap, frame.StepHold, frame.StepMove}, step.Op) {
			paths = append(paths, step.Path)
		}
	}
	if len(paths) > 0 {
		if err := v.viewer.sync(ctx, v.spec, paths); err != nil {
			return failed("write what the command changed to the disk", err)
		}
	}
	if err := writeGob(filepath.Join(v.spec.Dir, planName), s, len(s.Steps) > 0); err != nil {
		return failed("note what is to be applied", err)
	}
	return nil
}

// apply makes the steps of a plan that is written down, those that an earlier
// process made included: they are found to be made. A step whose path is no longer
// what was checked is a conflict. The project is locked.
func (v *view) apply(ctx context.Context, s *settlement) error {
	if len(s.Steps) > 0 {
		results, err := v.applySteps(ctx, v.asideDir(), s.Steps)
		if err != nil {
			return failed("apply what the command changed", err)
		}
		if err := v.conflicts(ctx, s, results); err != nil {
			return err
		}
	}
	v.digests(s)
	if err := v.forgetHeld(s.Gone); err != nil {
		return err
	}
	s.Applied = true
	if s.tells() {
		if err := v.write(lateName, true); err != nil {
			return failed("note that nobody was told yet", err)
		}
	}
	if err := writeGob(filepath.Join(v.spec.Dir, doneName), s, false); err != nil {
		return failed("note what was applied", err)
	}
	return nil
}

// applySteps makes steps, with a folder to move to that is made when one moves there.
func (v *view) applySteps(ctx context.Context, aside string, steps []frame.ViewStep) ([]frame.ViewResult, error) {
	if len(steps) == 0 {
		return nil, nil
	}
	spec := v.spec
	if slices.ContainsFunc(steps, func(s frame.ViewStep) bool { return s.Op == frame.StepMove }) {
		if err := os.MkdirAll(aside, 0o700); err != nil {
			return nil, err
		}
		spec.Aside = aside
	}
	// Who gives up waiting would give the lock back while the steps are made.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), MaxTimeout)
	defer cancel()
	return v.viewer.apply(ctx, spec, steps)
}

// conflicts takes the steps that were not made out of the changes, and says of the
// others where lies what was there before. The command's versions of what was not made
// are moved aside.
func (v *view) conflicts(ctx context.Context, s *settlement, results []frame.ViewResult) error {
	made := s.Changes[:0:0]
	var moves []frame.ViewStep
	var moved []int // of the conflicts
	for i, r := range results {
		c := s.Changes[i]
		switch {
		case r.State == frame.ViewConflict:
			conflict := Conflict{Path: s.Steps[i].Path}
			if r.Refused {
				conflict.Reason = r.Reason
			}
			switch {
			case r.Old != "": // the person's, which could not go back where it was
				conflict.Kept, s.Aside = filepath.Join(v.spec.Dir, filepath.FromSlash(r.Old)), false
			case s.Steps[i].Upper != (frame.ViewIdentity{}):
				moves, moved = append(moves, frame.ViewStep{Op: frame.StepMove, Path: conflict.Path, Upper: s.Steps[i].Upper}), append(moved, len(s.Conflicts))
			}
			s.Conflicts = append(s.Conflicts, conflict)
		case c.Path != "":
			if r.Old != "" {
				c.Old = filepath.Join(v.spec.Dir, filepath.FromSlash(r.Old))
			}
			c.Is = nodeOf(r.Is)
			made = append(made, c)
		}
	}
	results, err := v.applySteps(ctx, v.asideDir(), moves)
	if err != nil {
		return failed("keep what could not be applied", err)
	}
	for i, r := range results {
		at := filepath.Join(v.asideDir(), filepath.FromSlash(moves[i].Path))
		if r.State == frame.ViewConflict { // it is something else, and stays where it is
			at, s.Aside = filepath.Join(v.spec.Dir, "u", filepath.FromSlash(moves[i].Path)), false
		}
		if exists(at) {
			s.Conflicts[moved[i]].Kept = at
		}
	}
	s.Steps, s.Changes = nil, made
	return nil
}

// keep gives up applying: what the command changed stays where it lies.
func (v *view) keep() settlement {
	s := settlement{Note: v.note, Kept: filepath.Join(v.spec.Dir, "u")}
	// Without the note the next manager says the same.
	_ = writeGob(filepath.Join(v.spec.Dir, doneName), s, false)
	return s
}

// locked does something while nobody else changes the project.
func (v *view) locked(ctx context.Context, do func() error) error {
	unlock, err := v.session.manager.lockProject(ctx, v.note.Device, v.note.Inode)
	if err != nil {
		return err
	}
	defer unlock()
	return do()
}

// lockProject keeps others from applying to a project, and the files tool from
// writing there.
func (m *Manager) lockProject(ctx context.Context, device, inode uint64) (unlock func(), err error) {
	if m.cfg.Lock == nil {
		return func() {}, nil
	}
	if unlock, err = m.cfg.Lock(ctx, device, inode); err != nil {
		return nil, failed("lock the project", err)
	}
	return unlock, nil
}

// leftover reads what an earlier manager left in a view's folder.
func (s *session) leftover(viewer *viewer, dir string) (v *view, plan settlement, state viewState) {
	v = &view{session: s, viewer: viewer}
	v.spec.Slot, v.spec.Dir = s.slotPath(), dir
	if err := readGob(filepath.Join(dir, noteName), &v.note); err != nil {
		return v, plan, viewEmpty
	}
	v.spec = frame.View{Slot: s.slotPath(), Project: v.note.Project, Device: v.note.Device, Inode: v.note.Inode, Dir: dir}
	if held := filepath.Join(filepath.Dir(dir), heldName); held != dir && isFolder(filepath.Join(held, "u")) {
		v.spec.Held = filepath.Join(held, "u")
	}
	switch {
	case readGob(filepath.Join(dir, doneName), &plan) == nil:
		return v, plan, viewDone
	case readGob(filepath.Join(dir, planName), &plan) == nil:
		return v, plan, viewPlanned
	case exists(filepath.Join(dir, agreedName)):
		return v, plan, viewAgreed
	}
	return v, plan, viewCut
}

// viewState is how far a view had come when its manager died.
type viewState int

const (
	viewEmpty   viewState = iota // it has no note, and nothing was ever changed in it
	viewCut                      // its command was running, or had just ended
	viewAgreed                   // a person agreed to it, and it is being taken out of what waits
	viewPlanned                  // its plan is written down
	viewDone
)

func lstatTime(path string) (time.Time, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return time.Time{}, err
	}
	return changeTime(info), nil
}
