package project

import (
	"fmt"
	"os"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// Step is one change that a run made to the project's files.
type Step struct {
	sdk.FileChange
	Turn int
}

// Changes are the steps of a run against the files as they are now.
type Changes struct {
	Differences []sdk.Difference
	ops         []op
	reversals   []sdk.FileChange
	kept        []string // folders that the run made and that hold other things by now
}

// Reversals are the changes that Undo makes, told as a tool tells of its own:
// with them behind the steps, the run changed nothing any more.
func (c *Changes) Reversals() []sdk.FileChange { return c.reversals }

// Kept are the folders that the run made and that stay when it is taken back,
// because something else is in them.
func (c *Changes) Kept() []string { return c.kept }

// Look says how the steps of a run are looked at.
type Look struct {
	// May refuses a path that stays as it is, whatever a tool told of it.
	May func(path string) error
	// Resume says that the steps were being taken back when that was cut short:
	// some of the last may be undone already.
	Resume bool
}

// LookAtChanges looks at what steps, the oldest first, did to the project at
// root. It changes nothing, follows no link, and never leaves the project.
func LookAtChanges(root string, steps []Step, how Look) (*Changes, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, fmt.Errorf("open the project %s: %w", root, err)
	}
	defer func() { _ = dir.Close() }() // it was only read
	if how.Resume {
		for n := len(steps); n >= 0; n-- {
			p, err := plan(dir, steps[:n], how.May, true)
			if err != nil {
				return nil, err
			}
			if !slices.ContainsFunc(p.tracks, func(t *track) bool { return t.blocked != "" }) {
				return p.changes(dir)
			}
		}
	}
	p, err := plan(dir, steps, how.May, false)
	if err != nil {
		return nil, err
	}
	return p.changes(dir)
}
