package project

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/kept"
)

// Step is one change that a run made to the project's files.
type Step struct {
	sdk.FileChange
	Loop   int64  // 0: no prompt caused it
	Turn   int    // 0: of a person's undo or redo
	Action string // the path of the call that made it
	// Back names the taking back that made it, by its number; 0 is none. Redo says that
	// that one took the last taking back back.
	Back int
	Redo bool
	// Unsure says that the step was about to be made when that was cut short: the
	// files say whether it was. Such steps are of one stage (see Undo).
	Unsure bool

	other bool // another run made it, not for this one: it is not taken back
	told  time.Time
	at    int // among all steps
}

// Changes are the steps of a run against the files as they are now.
type Changes struct {
	Differences []sdk.Difference
	ops         []op
	kept        []string // folders that the run made and that hold other things by now
	made        []sdk.FileChange
	store       kept.Store
}

// Made are those of the unsure steps that were made.
func (c *Changes) Made() []sdk.FileChange { return c.made }

// Kept are the folders that the run made and that stay when it is taken back,
// because something else is in them.
func (c *Changes) Kept() []string { return c.kept }

// Ground is what changes are looked at on.
type Ground struct {
	Root string     // of the project
	Kept kept.Store // of replaced contents
	May  func(path string, removes bool) error
}

// Look looks at what steps, the oldest first, did to the project. May of the ground refuses
// a path that stays as it is, whatever a tool told of it. Of the steps, those that are chosen would
// be taken back. It changes nothing, follows no link, and never leaves the project.
func (g Ground) Look(steps []Step, chosen func(Step) bool) (*Changes, error) {
	return g.look(steps, false, func(steps []Step) ([]Step, func(Step) bool) {
		return standing(steps).steps, chosen
	})
}

// LookBack is Look for the last taking back that left something to be made again. That
// would be taken back itself.
func (g Ground) LookBack(steps []Step) (*Changes, error) {
	var numbers []int
	for _, s := range steps {
		if s.Back != 0 && !s.Redo && !s.other {
			numbers = append(numbers, s.Back)
		}
	}
	slices.Sort(numbers)
	numbers = slices.Compact(numbers)
	for len(numbers) > 1 {
		last := len(numbers) - 1
		c, err := g.lookBack(steps, numbers[last])
		if err != nil || len(c.ops)+len(c.Differences) > 0 {
			return c, err
		}
		numbers = numbers[:last]
	}
	return g.lookBack(steps, slices.Max(append(numbers, 0)))
}

// lookBack looks at one taking back, as far as that was not taken back itself.
func (g Ground) lookBack(steps []Step, number int) (*Changes, error) {
	return g.look(steps, true, func(steps []Step) ([]Step, func(Step) bool) {
		now := standing(steps)
		all := now.steps
		for _, p := range now.pairs {
			if p.back.Back == number {
				p.back.Turn = p.step.Turn
				all = append(all, p.back)
			}
		}
		slices.SortStableFunc(all, func(a, b Step) int { return cmp.Compare(a.at, b.at) })
		return all, func(s Step) bool { return number != 0 && s.Back == number && !s.Redo }
	})
}

// look looks at some of the steps. Again says that taking them back is what people are told
// of, and not what they did.
func (g Ground) look(steps []Step, again bool, choose func([]Step) ([]Step, func(Step) bool)) (*Changes, error) {
	dir, err := os.OpenRoot(g.Root)
	if err != nil {
		return nil, fmt.Errorf("open the project %s: %w", g.Root, err)
	}
	defer func() { _ = dir.Close() }() // it was only read
	d := newDisk(dir, g.Kept)
	steps = slices.Clone(steps)
	for i := range steps {
		steps[i].at = i
	}
	steps, made := sure(d, steps, g.May)
	now, chosen := choose(steps)
	c := plan(d, now, chosen, g.May, nil).changes(again)
	if !again && slices.ContainsFunc(now, func(s Step) bool { return !chosen(s) }) {
		c.Differences = shown(d, now, chosen, g.May, c.Differences)
	}
	c.made, c.store = made, g.Kept
	return c, nil
}

// sure leaves out the unsure steps that were not made, and returns the others
// besides. What was done after them is taken back in mind first.
func sure(d *disk, steps []Step, may func(string, bool) error) (all []Step, made []sdk.FileChange) {
	first := slices.IndexFunc(steps, func(s Step) bool { return s.Unsure })
	if first < 0 {
		return steps, nil
	}
	last := first
	for last < len(steps) && steps[last].Unsure {
		last++
	}
	then := plan(d, steps[last:], everything, may, nil).overlay
	all = slices.Clone(steps[:first])
	for _, s := range steps[first:last] {
		if usable(s.FileChange) != "" || !then.holds(s.FileChange) {
			continue
		}
		made = append(made, s.FileChange)
		s.Unsure = false
		all = append(all, s)
	}
	return append(all, steps[last:]...), made
}

// holds reports whether everything is as a change left it.
func (o *overlay) holds(c sdk.FileChange) bool {
	now := o.look(c.Path)
	if c.From != "" {
		return now != nil && now.kind == c.After.Kind && o.look(c.From) == nil
	}
	_, after := compared(c)
	return now.is(after)
}

// stand is what is left of a run's steps: those that nothing took back, and those that were
// taken back together with what did so.
type stand struct {
	steps []Step
	pairs []pair // in the order of the taking back
}

type pair struct{ step, back Step }

// standing leaves out what was taken back, and the taking back with it, so that
// what people do there later is nobody's concern any more. A pair stays when
// something between the two has to do with it. What was made again stands again.
func standing(steps []Step) stand {
	var now stand
	for _, s := range steps {
		switch {
		case s.Back == 0:
			now.steps = append(now.steps, s)
		case s.Redo && now.again(s):
		default:
			now.takeBack(s)
		}
	}
	return now
}

// takeBack takes out what a step took back. Of what came to nothing before it was taken
// back nobody is told.
func (now *stand) takeBack(s Step) {
	steps := now.steps
	at := lastRelated(steps, s)
	for at >= 0 && !inverse(steps[at].FileChange, s.FileChange, false) {
		before := lastRelated(steps[:at], steps[at])
		if before < 0 || !inverse(steps[before].FileChange, steps[at].FileChange, true) {
			at = -1
			break
		}
		steps = slices.Concat(steps[:before], steps[before+1:at], steps[at+1:])
		at = lastRelated(steps, s)
	}
	if at < 0 {
		now.steps = append(now.steps, s)
		return
	}
	if !s.Redo {
		now.pairs = append(now.pairs, pair{steps[at], s})
	}
	now.steps = slices.Delete(steps, at, at+1)
}

// again has a step stand again, in its place, whose taking back was taken back.
func (now *stand) again(s Step) bool {
	for i, p := range slices.Backward(now.pairs) {
		if inverse(p.back.FileChange, s.FileChange, false) {
			place := slices.IndexFunc(now.steps, func(x Step) bool { return x.at > p.step.at })
			if place < 0 {
				place = len(now.steps)
			}
			now.steps = slices.Insert(now.steps, place, p.step)
			now.pairs = slices.Delete(now.pairs, i, i+1)
			return true
		}
	}
	return false
}

// lastRelated is the index of the last step that has to do with the paths of s.
func lastRelated(steps []Step, s Step) int {
	for i, x := range slices.Backward(steps) {
		for _, a := range []string{x.Path, x.From} {
			if a != "" && (related(a, s.Path) || s.From != "" && related(a, s.From)) {
				return i
			}
		}
	}
	return -1
}

// related reports whether one path is the other, or holds it.
func related(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+"/") || strings.HasPrefix(b, a+"/")
}

// inverse reports whether each change undoes the other. Modes count where both are changes of
// the mode, or exact says so.
func inverse(a, b sdk.FileChange, exact bool) bool {
	if a.From != "" || b.From != "" {
		return a.Path == b.From && a.From == b.Path
	}
	exact = exact || moded(a) && moded(b)
	return a.Path == b.Path && alike(a.Before, b.After, exact) && alike(a.After, b.Before, exact)
}

func alike(a, b *sdk.FileState, exact bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Target == b.Target && a.Hash == b.Hash && (!exact || a.Mode == 0 || b.Mode == 0 || a.Mode == b.Mode)
}
