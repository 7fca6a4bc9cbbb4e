package sandbox

import (
	"path/filepath"
	"strings"
	"time"

	"github.com/bothyd/bothy/sandbox/frame"
)

// settlement is what becomes of the changes of one command: the plan that is
// written down before the first step, and the steps' ends.
type settlement struct {
	Note viewNote
	// Steps are made in this order; Changes are what each of them changes in the
	// project, the same number and order, with what was at the path before.
	Steps   []frame.ViewStep
	Changes []Change

	Held []Held
	// Gone are paths that waited for an answer and that the command removed.
	Gone       []string
	Conflicts  []Conflict
	Violations []Violation
	// Applied says that the steps were made.
	Applied bool
	// Kept is where the changes lie that were not applied since the command was
	// cut short.
	Kept string

	// lowers are what the project has at the paths that are held, in their order.
	lowers []frame.ViewIdentity
}

// keeps says whether something of the view's folder has to stay for a person.
func (s *settlement) keeps() bool { return len(s.Conflicts)+len(s.Violations) > 0 || s.Kept != "" }

// settler plans what becomes of the changes of one view.
type settler struct {
	view    *view
	changes []frame.ViewChange
	rulings []Ruling
	out     settlement
}

// plan goes through the changes; parents come before what lies in them.
func (s *settler) plan() {
	for i := 0; i < len(s.changes); {
		i = s.one(i)
	}
}

// one plans a change, and answers which is next.
func (s *settler) one(i int) int {
	c := s.changes[i]
	next := i + 1
	if c.Whole {
		next = s.after(i)
	}
	ruling := s.strongest(i, next)
	if c.Whole && c.Was.Kind == "" && ruling.Class != Free && s.rulings[i].Class == Free {
		// The new folder is made, and what lies in it is looked at by itself.
		s.step(c, frame.ViewStep{Op: frame.StepMkdir, Mode: c.Is.Mode})
		return i + 1
	}
	switch {
	case c.Is.Kind == NodeOther, s.rulings[i].Class == Dropped && ruling.Class == Dropped:
	case c.Is.Kind == "" && c.Was.Kind == "": // what was held is gone again
		s.out.Gone = append(s.out.Gone, c.Path)
		s.silent(frame.ViewStep{Op: frame.StepHold, Path: c.Path})
	case ruling.Class == Refused:
		s.out.Violations = append(s.out.Violations, Violation{Path: c.Path, Action: ActionRefused, Kept: s.upper(c), Detail: ruling.Reason})
	case s.touched(c):
		s.out.Conflicts = append(s.out.Conflicts, Conflict{Path: c.Path, Kept: s.upper(c)})
	case ruling.Class == Asked:
		s.hold(c, ruling)
	default:
		clean := true
		for j := i; j < next; j++ {
			clean = clean && !s.changes[j].Marked
			if s.rulings[j].Class == Dropped {
				s.drop(s.changes[j].Path)
			}
		}
		s.apply(c)
		s.out.Steps[len(s.out.Steps)-1].Clean = clean
	}
	return next
}

// after is the index of the first change that does not lie below another.
func (s *settler) after(i int) int {
	below := s.changes[i].Path + "/"
	for i++; i < len(s.changes) && strings.HasPrefix(s.changes[i].Path, below); i++ {
	}
	return i
}

// strongest is the strictest ruling of a change and of all that goes with it.
func (s *settler) strongest(from, to int) Ruling {
	worst := s.rulings[from]
	for _, r := range s.rulings[from:to] {
		if r.Class > worst.Class {
			worst = r
		}
	}
	return worst
}

// touched says whether the person changed the path since the view was made: the
// change time of files is the kernel's, and nobody sets it back.
func (s *settler) touched(c frame.ViewChange) bool {
	since := s.view.note.Since
	changed := func(t time.Time) bool { return !t.Before(since) }
	switch {
	case c.Is.Kind == NodeDirectory && c.Was.Kind == NodeDirectory && !c.Whole:
		return false // only its mode is set
	case c.Was.Kind != "":
		return changed(c.Was.Changed) || changed(c.Newest)
	case c.Copied: // it was there when the command wrote to it, or it came from another path
		parent, err := lstatTime(filepath.Join(s.view.note.Project, filepath.Dir(filepath.FromSlash(c.Path))))
		return err == nil && changed(parent)
	}
	return false
}

// upper is where the command's version of a path lies, if there is one.
func (s *settler) upper(c frame.ViewChange) string {
	if c.Is.Kind == "" {
		return ""
	}
	return filepath.Join(s.view.spec.Dir, "u", filepath.FromSlash(c.Path))
}

func (s *settler) hold(c frame.ViewChange, ruling Ruling) {
	s.out.Held = append(s.out.Held, Held{Change: change(c), Reason: ruling.Reason})
	s.out.lowers = append(s.out.lowers, c.Was.Identity())
	s.silent(frame.ViewStep{Op: frame.StepHold, Path: c.Path, Upper: c.Is.Identity()})
}

func (s *settler) drop(path string) { s.silent(frame.ViewStep{Op: frame.StepDrop, Path: path}) }

// silent is a step that changes nothing in the project.
func (s *settler) silent(step frame.ViewStep) {
	s.out.Steps = append(s.out.Steps, step)
	s.out.Changes = append(s.out.Changes, Change{})
}

func (s *settler) apply(c frame.ViewChange) {
	old := len(s.out.Steps)
	switch {
	case c.Is.Kind == NodeDirectory && c.Was.Kind == NodeDirectory && !c.Whole:
		s.step(c, frame.ViewStep{Op: frame.StepMode, Lower: c.Was.Identity(), Mode: c.Is.Mode})
	case c.Is.Kind == "":
		s.step(c, frame.ViewStep{Op: frame.StepTake, Lower: c.Was.Identity(), Old: old})
	case c.Was.Kind == "":
		s.step(c, frame.ViewStep{Op: frame.StepPut, Upper: c.Is.Identity(), Old: old})
	default:
		s.step(c, frame.ViewStep{Op: frame.StepSwap, Upper: c.Is.Identity(), Lower: c.Was.Identity(), Old: old})
	}
}

func (s *settler) step(c frame.ViewChange, step frame.ViewStep) {
	step.Path = c.Path
	s.out.Steps = append(s.out.Steps, step)
	s.out.Changes = append(s.out.Changes, change(c))
}

func change(c frame.ViewChange) Change {
	is := Change{Path: c.Path, Was: nodeOf(c.Was), Is: nodeOf(c.Is), Whole: c.Whole, Bytes: c.Bytes}
	if c.Was.Kind == NodeFile {
		is.Bytes = c.Was.Size
	}
	return is
}

func nodeOf(n frame.ViewNode) Node {
	return Node{Kind: n.Kind, Mode: n.Mode, Size: n.Size, Target: n.Target}
}
