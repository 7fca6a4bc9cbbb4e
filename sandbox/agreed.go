package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/sandbox/frame"
)

// Agreed is a held change that a person agreed to.
type Agreed struct {
	Path   string `json:"path"`
	Digest string `json:"digest"`
}

// Apply applies held changes of a run. A change that is no longer as it was when the
// person was asked stays held; one of a path that the person has changed since does not,
// and is kept aside. Both are among the conflicts.
func (m *Manager) Apply(ctx context.Context, run RunSpec, agreed []Agreed) (Result, error) {
	if err := run.checkNames(); err != nil {
		return Result{}, err
	}
	if err := m.enter(); err != nil {
		return Result{}, err
	}
	defer m.active.Done()
	s := m.session(run.RunID)
	if err := s.take(ctx); err != nil {
		return Result{}, err
	}
	defer s.give()
	if err := s.claim(ctx); err != nil {
		return Result{}, err
	}
	s.keep(run)
	return s.applyHeld(ctx, agreed)
}

func (s *session) applyHeld(ctx context.Context, agreed []Agreed) (Result, error) {
	viewer, err := s.manager.views.helper(ctx)
	if err != nil {
		return Result{}, err
	}
	if err := s.finishLeft(ctx, viewer, true); err != nil {
		return Result{}, err
	}
	for _, upper := range s.manager.cfg.uppers() {
		h := s.heldIn(viewer, upper)
		if h == nil || len(h.list) == 0 {
			continue
		}
		if err := h.apply(ctx, agreed); err != nil {
			return Result{}, err
		}
	}
	var result Result
	s.takeLate(&result)
	for _, a := range agreed {
		known := func(c Conflict) bool { return c.Path == a.Path }
		made := func(c Change) bool { return c.Path == a.Path || lies(c.Path, a.Path) }
		if !slices.ContainsFunc(result.Conflicts, known) && !slices.ContainsFunc(result.Changes, made) {
			result.Conflicts = append(result.Conflicts, Conflict{Path: a.Path})
		}
	}
	s.report(result)
	return result, nil
}

// agreement is what a person agreed to, as it is written down before any of it is moved.
type agreement struct {
	// Moves bring it into a view of its own, and Plan applies that view.
	Moves []frame.ViewStep
	Plan  settlement
}

// apply moves what was agreed to, and is as it was then, into a view of its own, and
// applies that like a command's.
func (h *held) apply(ctx context.Context, agreed []Agreed) error {
	if !h.present() {
		return failed("look at the project "+h.view.note.Project, nil)
	}
	h.view.note.Call = "" // nobody asks about it by the call of the first that waited
	return h.view.locked(ctx, func() error {
		s, stale, err := h.agree(ctx, agreed)
		if err != nil {
			return err
		}
		if len(stale) > 0 {
			if err := h.dropAll(ctx, stale); err != nil {
				return err
			}
		}
		if len(s.out.Steps) == 0 {
			h.view.session.tellLater(s.out, "")
			return nil
		}
		return h.begin(ctx, s)
	})
}

// begin writes down what was agreed to, and carries it out.
func (h *held) begin(ctx context.Context, s *settler) error {
	v, err := h.view.session.newView(h.view.viewer, filepath.Dir(h.view.spec.Dir), h.view.note)
	if err != nil {
		return err
	}
	a := agreement{Plan: s.out}
	for _, step := range s.out.Steps {
		if step.Op != frame.StepMode {
			a.Moves = append(a.Moves, frame.ViewStep{Op: frame.StepMove, Path: step.Path, Upper: step.Upper})
		}
	}
	if err = os.Mkdir(filepath.Join(v.spec.Dir, "u"), 0o700); err == nil {
		err = writeGob(filepath.Join(v.spec.Dir, agreedName), a, true)
	}
	if err == nil {
		err = writeGob(filepath.Join(v.spec.Dir, noteName), v.note, true) // until then the folder is nobody's
	}
	if err != nil {
		return failed("note what a person agreed to", err)
	}
	return v.carryOut(ctx, a)
}

// agree plans what was agreed to. Stale is what was agreed to of a folder in which the
// person has changed something since.
func (h *held) agree(ctx context.Context, agreed []Agreed) (_ *settler, stale []heldChange, err error) {
	changes, err := h.view.viewer.list(ctx, h.view.spec, mostChanges)
	if err != nil {
		return nil, nil, failed("look at what waits for an answer", err)
	}
	at := make(map[string]int, len(changes))
	for i, c := range changes {
		at[c.Path] = i
	}
	all, seen := newWaiting(h).all, make(map[string]bool)
	s := &settler{view: h.view, changes: changes, out: settlement{Note: h.view.note, Aside: true}}
	s.rulings = h.view.judged(ctx, changes)
	for _, a := range agreed {
		waits, known := all[a.Path]
		j, there := at[a.Path]
		if !known || seen[a.Path] {
			continue
		}
		if seen[a.Path] = true; !there { // nothing is left of it
			stale = append(stale, waits)
			continue
		}
		c := changes[j]
		next := j + 1
		if c.Whole {
			next = s.after(j)
		}
		digest, err := digestOf(h.upper(), a.Path)
		switch refusal := s.strongest(j, next); {
		case err != nil:
			s.out.Conflicts = append(s.out.Conflicts, Conflict{Path: a.Path, Reason: "what the command made of it cannot be read"})
		case digest != a.Digest:
			s.out.Conflicts = append(s.out.Conflicts, Conflict{Path: a.Path})
		case refusal.Class == Refused:
			s.out.Conflicts = append(s.out.Conflicts, Conflict{Path: a.Path, Reason: refusal.Reason})
		case !waits.Newest.IsZero() && !waits.Newest.Equal(c.Newest), !waits.whole() && waits.Was.Mode != c.Was.Mode:
			stale = append(stale, waits)
		default:
			s.apply(c)
			s.out.Steps[len(s.out.Steps)-1].Lower = waits.Lower
		}
	}
	return s, stale, nil
}

// carryOut moves what was agreed to out of what waits, and applies it; an agreement that
// was carried out in part is carried out to its end. The project is locked.
func (v *view) carryOut(ctx context.Context, a agreement) error {
	h := v.waiting()
	if h == nil {
		return failed("look at what waits for an answer", nil)
	}
	h.view.spec.Device, h.view.spec.Inode = v.note.Device, v.note.Inode // as it was agreed
	if _, err := h.view.applySteps(ctx, filepath.Join(v.spec.Dir, "u"), a.Moves); err != nil {
		return failed("take what was agreed to", err)
	}
	taken := make([]heldChange, len(a.Plan.Steps))
	for i, step := range a.Plan.Steps {
		taken[i].Path = step.Path
		if step.Op == frame.StepMode {
			taken[i].Was.Kind, taken[i].Is.Kind = NodeDirectory, NodeDirectory
		}
	}
	h.forget(taken)
	h.prune(taken)
	if err := h.save(); err != nil {
		return err
	}
	if err := v.commit(ctx, &a.Plan); err != nil {
		return err
	}
	if err := v.apply(ctx, &a.Plan); err != nil {
		return err
	}
	v.session.tellLater(a.Plan, v.spec.Dir)
	return nil
}
