package sandbox

import (
	"context"
	"io"
	"os"
	"path/filepath"
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
	s := settler{view: v, changes: changes, out: settlement{Note: v.note}}
	s.rulings = v.rule(ctx, changes)
	s.plan()
	if err := v.digests(&s.out); err != nil {
		return v.keep(), err
	}
	if err := v.addHeld(&s.out); err != nil {
		return v.keep(), err
	}
	if err := v.commit(ctx, &s.out); err != nil {
		return v.keep(), err
	}
	return s.out, v.apply(ctx, &s.out)
}

// rule asks the judge; without one everything is free.
func (v *view) rule(ctx context.Context, changes []frame.ViewChange) []Ruling {
	judge := v.session.manager.cfg.Judge
	if judge == nil {
		return make([]Ruling, len(changes))
	}
	all := make([]Change, len(changes))
	for i, c := range changes {
		all[i] = change(c)
		all[i].Busy = c.Was.Kind == NodeFile && busy(v.note.Project, c.Path)
	}
	return v.stillAsked(all, judge.Rule(v.note.Project, all, Readers{
		After:  func(path string, most int) ([]byte, error) { return v.viewer.read(ctx, v.spec, path, most) },
		Before: func(path string, most int) ([]byte, error) { return readBelow(v.note.Project, path, most) },
	}))
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

// digests names what held changes have become, so that an answer is about that.
func (v *view) digests(s *settlement) (err error) {
	for i := range s.Held {
		h := &s.Held[i]
		if h.Digest, err = digestOf(filepath.Join(v.spec.Dir, "u"), h.Path); err != nil {
			return failed("read what "+h.Path+" has become", err)
		}
	}
	return nil
}

// commit writes the plan down, after all that it speaks of is on disk: who finds
// it after a crash can finish it.
func (v *view) commit(ctx context.Context, s *settlement) error {
	var paths []string
	for _, step := range s.Steps {
		if step.Op == frame.StepPut || step.Op == frame.StepSwap || step.Op == frame.StepHold {
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
// what was checked is a conflict.
func (v *view) apply(ctx context.Context, s *settlement) error {
	if len(s.Steps) > 0 {
		unlock, err := v.session.manager.lockProject(ctx, v.note.Device, v.note.Inode)
		if err != nil {
			return err
		}
		defer unlock()
		spec := v.spec
		if spec.Held = filepath.Join(filepath.Dir(v.spec.Dir), heldName, "u"); !isFolder(spec.Held) {
			spec.Held = ""
		}
		results, err := v.viewer.apply(ctx, spec, s.Steps)
		if err != nil {
			return failed("apply what the command changed", err)
		}
		v.conflicts(s, results)
	}
	if err := v.forgetHeld(s.Gone); err != nil {
		return err
	}
	s.Applied = true
	if err := writeGob(filepath.Join(v.spec.Dir, doneName), s, false); err != nil {
		return failed("note what was applied", err)
	}
	return nil
}

// conflicts takes the steps that were not made out of the changes, and says of the
// others where lies what was there before.
func (v *view) conflicts(s *settlement, results []frame.ViewResult) {
	made := s.Changes[:0:0]
	for i, r := range results {
		c := s.Changes[i]
		switch {
		case r.State == frame.ViewConflict:
			conflict := Conflict{Path: s.Steps[i].Path}
			if r.Refused {
				conflict.Reason = r.Reason
			}
			if s.Steps[i].Upper != (frame.ViewIdentity{}) {
				conflict.Kept = filepath.Join(v.spec.Dir, "u", filepath.FromSlash(conflict.Path))
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
	s.Steps, s.Changes = nil, made
}

// keep gives up applying: what the command changed stays where it lies.
func (v *view) keep() settlement {
	s := settlement{Note: v.note, Kept: filepath.Join(v.spec.Dir, "u")}
	// Without the note the next manager says the same.
	_ = writeGob(filepath.Join(v.spec.Dir, doneName), s, false)
	return s
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
	if err := readGob(filepath.Join(dir, noteName), &v.note); err != nil {
		return v, plan, viewEmpty
	}
	v.spec = frame.View{Slot: s.slotPath(), Project: v.note.Project, Device: v.note.Device, Inode: v.note.Inode, Dir: dir}
	switch {
	case readGob(filepath.Join(dir, doneName), &plan) == nil:
		return v, plan, viewDone
	case readGob(filepath.Join(dir, planName), &plan) == nil:
		return v, plan, viewPlanned
	}
	return v, plan, viewCut
}

// viewState is how far a view had come when its manager died.
type viewState int

const (
	viewEmpty   viewState = iota // it has no note, and nothing was ever changed in it
	viewCut                      // its command was running, or had just ended
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
