package sandbox

import (
	"bytes"
	"os"
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
	// Aside says that what is kept for a person was moved out of the view's folder.
	Aside bool
	// Kept is where the changes lie that were not applied since the command was
	// cut short.
	Kept string
}

// keeps says whether something of the view's folder has to stay for a person.
func (s *settlement) keeps() bool {
	return s.Kept != "" || !s.Aside && len(s.Conflicts)+len(s.Violations) > 0
}

// settler plans what becomes of the changes of one view.
type settler struct {
	view    *view
	changes []frame.ViewChange
	rulings []Ruling
	waits   waiting
	read    func(path string, most int) ([]byte, error) // a file as the command left it
	// held is what is held anew of what waits, or besides, and known the same by path.
	held  []heldChange
	known map[string]bool
	// moved knows of folders of the project whether they were moved since.
	moved map[string]bool
	out   settlement
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
		if h, ok := s.waits.holder(c.Path); ok {
			s.wait(h)
		}
	case ruling.Class == Refused:
		s.out.Violations = append(s.out.Violations, Violation{Path: c.Path, Action: ActionRefused, Kept: s.aside(c), Detail: ruling.Reason})
	case s.touched(c) && (s.rulings[i].Spare || s.alike(c)):
	case s.touched(c):
		s.out.Conflicts = append(s.out.Conflicts, Conflict{Path: c.Path, Kept: s.aside(c)})
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
		s.releaseBelow(c)
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
		return changed(c.Was.Changed) || changed(c.Newest) || s.movedAbove(c.Path)
	case c.Copied && !s.waits.has(c.Path): // it was there when the command wrote to it, or it came from another path
		parent, err := lstatTime(filepath.Join(s.view.note.Project, filepath.Dir(filepath.FromSlash(c.Path))))
		return err == nil && changed(parent)
	}
	return false
}

// mostAlike is how long a file may be to be compared with what somebody else made of it.
const mostAlike = 1 << 20

// alike says whether somebody else made of a file the very thing that the command did, so that there is nothing to apply
// and nothing to keep: two that test a project at the same time leave the same caches.
func (s *settler) alike(c frame.ViewChange) bool {
	if c.Is.Kind != NodeFile || c.Was.Kind != NodeFile || c.Is.Size != c.Was.Size || c.Is.Mode != c.Was.Mode || c.Is.Size > mostAlike || s.waits.has(c.Path) {
		return false
	}
	mine, err := s.read(c.Path, mostAlike)
	if err != nil {
		return false
	}
	theirs, err := readBelow(s.view.note.Project, c.Path, mostAlike)
	return err == nil && bytes.Equal(mine, theirs)
}

// movedAbove says whether a folder that the path lies in was renamed since the view was
// made: what lies in it now is another thing than the command saw, with times from before.
// A name that comes or goes in a folder changes both of its times, its own renaming one.
func (s *settler) movedAbove(path string) bool {
	dir := filepath.Dir(filepath.FromSlash(path))
	if dir == "." {
		return false
	}
	if known, ok := s.moved[dir]; ok {
		return known
	}
	info, err := os.Lstat(filepath.Join(s.view.note.Project, dir))
	moved := err == nil && !changeTime(info).Before(s.view.note.Since) && !changeTime(info).Equal(info.ModTime()) || s.movedAbove(filepath.ToSlash(dir))
	if s.moved == nil {
		s.moved = make(map[string]bool)
	}
	s.moved[dir] = moved
	return moved
}

// aside moves the command's version of a path to where a person finds it, and says where
// that is; nothing where there is no version, or merely another mode of a folder.
func (s *settler) aside(c frame.ViewChange) string {
	if c.Is.Kind == "" || c.Is.Kind == NodeDirectory && !c.Whole {
		return ""
	}
	s.silent(frame.ViewStep{Op: frame.StepMove, Path: c.Path, Upper: c.Is.Identity()})
	return filepath.Join(s.view.asideDir(), filepath.FromSlash(c.Path))
}

// hold has a change wait: as a part of what waits, where it lies in that.
func (s *settler) hold(c frame.ViewChange, ruling Ruling) {
	s.silent(frame.ViewStep{Op: frame.StepHold, Path: c.Path, Upper: c.Is.Identity()})
	if h, ok := s.waits.holder(c.Path); ok {
		s.wait(h)
		return
	}
	waits := heldChange{Held: Held{Change: change(c), Reason: ruling.Reason}, Lower: c.Was.Identity(), Newest: c.Newest}
	if !waits.whole() {
		waits.Lower.Changed = time.Time{} // names come and go in the folder; its mode is what counts
	}
	switch first, ok := s.waits.all[c.Path]; {
	case ok && first.whole() && !waits.whole(): // another mode of a folder that waits
		first.Is = waits.Is
		waits = first
	case ok && first.whole(): // an answer is about what the project had then
		waits.Was, waits.Lower, waits.Newest = first.Was, first.Lower, first.Newest
	case ok && !waits.whole():
		waits.Was, waits.Lower = first.Was, first.Lower
	}
	s.wait(waits)
}

// wait has a change wait, once.
func (s *settler) wait(c heldChange) {
	if s.known[c.Path] {
		return
	}
	if s.known == nil {
		s.known = make(map[string]bool)
	}
	s.known[c.Path] = true
	s.held = append(s.held, c)
	s.out.Held = append(s.out.Held, c.Held)
}

// releaseBelow has wait no more what lay in a folder of the project that a change takes
// away, or the place of.
func (s *settler) releaseBelow(c frame.ViewChange) {
	if c.Was.Kind != NodeDirectory || c.Is.Kind == NodeDirectory && !c.Whole {
		return
	}
	for _, path := range s.waits.below(c.Path) {
		s.out.Gone = append(s.out.Gone, path)
		s.silent(frame.ViewStep{Op: frame.StepRelease, Path: path})
	}
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
