package project

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Step is one change that a run made to the project's files.
type Step struct {
	sdk.FileChange
	Turn int
	// Back says that the step took an earlier one back.
	Back bool
	// Unsure says that the step was about to be made when that was cut short: the
	// files say whether it was. Such steps are of one stage (see Undo).
	Unsure bool
}

// Changes are the steps of a run against the files as they are now.
type Changes struct {
	Differences []sdk.Difference
	ops         []op
	kept        []string // folders that the run made and that hold other things by now
	made        []sdk.FileChange
}

// Made are those of the unsure steps that were made.
func (c *Changes) Made() []sdk.FileChange { return c.made }

// Kept are the folders that the run made and that stay when it is taken back,
// because something else is in them.
func (c *Changes) Kept() []string { return c.kept }

// LookAtChanges looks at what steps, the oldest first, did to the project at
// root. May refuses a path that stays as it is, whatever a tool told of it. It
// changes nothing, follows no link, and never leaves the project.
func LookAtChanges(root string, steps []Step, may func(path string) error) (*Changes, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open the project %s: %w", root, err)
	}
	defer func() { _ = dir.Close() }() // it was only read
	steps, made := sure(dir, steps, may)
	c := plan(dir, standing(steps), may).changes(dir)
	c.made = made
	return c, nil
}

// sure leaves out the unsure steps that were not made, and returns the others
// besides. What was done after them is taken back in mind first.
func sure(dir *os.Root, steps []Step, may func(string) error) (all []Step, made []sdk.FileChange) {
	first := slices.IndexFunc(steps, func(s Step) bool { return s.Unsure })
	if first < 0 {
		return steps, nil
	}
	last := first
	for last < len(steps) && steps[last].Unsure {
		last++
	}
	then := plan(dir, steps[last:], may).overlay
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
	return now.is(c.After)
}

// standing leaves out what was taken back, and the taking back with it, so that
// what people do there later is nobody's concern any more. A pair stays when
// something between the two has to do with it.
func standing(steps []Step) []Step {
	var out []Step
	for _, s := range steps {
		at := -1
		if s.Back {
			at = lastRelated(out, s)
		}
		if at >= 0 && inverse(out[at].FileChange, s.FileChange) {
			out = slices.Delete(out, at, at+1)
		} else {
			out = append(out, s)
		}
	}
	return out
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

// inverse reports whether each change undoes the other.
func inverse(a, b sdk.FileChange) bool {
	if a.From != "" || b.From != "" {
		return a.Path == b.From && a.From == b.Path
	}
	return a.Path == b.Path && alike(a.Before, b.After) && alike(a.After, b.Before)
}

func alike(a, b *sdk.FileState) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Kind == b.Kind && a.Target == b.Target && a.Hash == b.Hash
}
