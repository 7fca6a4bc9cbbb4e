package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// maxVisited is how many files and folders one call looks at.
const maxVisited = 500_000

// mostNotes is how many paths a result names that it lacks.
const mostNotes = 10

// entry is something that a walk over a folder came to.
type entry struct {
	path string   // relative to the project
	dir  *os.Root // the folder that holds it, open for the length of the visit
	name string
	mode fs.FileMode // its kind
}

// tree walks over a folder in the order of names. It never follows links, and
// it goes on where a folder cannot be read, but remembers that.
type tree struct {
	*place                         // where it begins; one that is no folder cannot be walked over
	deep       bool                // into folders below
	intoGit    bool                // into .git as well
	visit      func(e entry) error // fs.SkipDir leaves out the folder, fs.SkipAll ends the walk
	visited    int
	unreadable []string // paths and reasons
	incomplete bool     // the walk ended at maxVisited or maxDepth
}

// tree resolves what is to be looked through; an empty name is the project. The
// caller closes it.
func (p *project) tree(name string) (*tree, error) {
	pl, err := p.existing(cmp.Or(name, "."), lookup{})
	if err != nil {
		return nil, err
	}
	if err := pl.readable(name); err != nil {
		return nil, err
	}
	return &tree{place: pl, intoGit: inGit(pl.path)}, nil
}

// walk visits what lies in the folder; action is what that is for, in an error.
func (t *tree) walk(ctx context.Context, action string) error {
	dir, err := t.open()
	if err == nil {
		defer func() { _ = dir.Close() }() // it was only read
		err = t.folder(ctx, dir, t.path, 0)
	}
	if err == nil || errors.Is(err, fs.SkipAll) {
		return nil
	}
	return fault(action, t.path, err)
}

func (t *tree) folder(ctx context.Context, dir *os.Root, at string, depth int) error {
	names, err := fs.ReadDir(dir.FS(), ".")
	if err != nil {
		t.failed(at, err)
	}
	for _, found := range names {
		if err := ctx.Err(); err != nil {
			return err
		}
		if t.visited++; t.visited > maxVisited {
			t.incomplete = true
			return fs.SkipAll
		}
		e := entry{path.Join(at, found.Name()), dir, found.Name(), found.Type()}
		err := t.visit(e)
		if err == nil && found.IsDir() && t.deep && (t.intoGit || e.name != ".git") {
			err = t.enter(ctx, e, depth+1)
		}
		if err != nil && !errors.Is(err, fs.SkipDir) {
			return err
		}
	}
	return nil
}

func (t *tree) enter(ctx context.Context, e entry, depth int) error {
	if depth > maxDepth {
		t.incomplete = true
		return nil
	}
	sub, err := e.dir.OpenRoot(e.name + "/.")
	if err != nil {
		t.failed(e.path, err)
		return nil
	}
	defer func() { _ = sub.Close() }() // it was only read
	return t.folder(ctx, sub, e.path, depth)
}

// failed remembers what could not be read. What vanished since it was listed
// is no failure.
func (t *tree) failed(at string, err error) {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return
	}
	t.unreadable = append(t.unreadable, fmt.Sprintf("%s: %v", shown(at), root(err)))
}

// notes are the lines behind a result that say what it lacks.
func (t *tree) notes() string {
	var notes strings.Builder
	if t.incomplete {
		fmt.Fprintf(&notes, "[not everything was looked at: more than %d files, or folders deeper than %d; name a folder further down]\n", maxVisited, maxDepth)
	}
	for i, line := range t.unreadable {
		if i == mostNotes {
			fmt.Fprintf(&notes, "[and %d more could not be read]\n", len(t.unreadable)-i)
			break
		}
		fmt.Fprintf(&notes, "[could not be read: %s]\n", line)
	}
	return notes.String()
}

// open opens the folder at the place.
func (pl *place) open() (*os.Root, error) {
	if !pl.isDir() {
		return nil, syscall.ENOTDIR
	}
	return pl.dir.OpenRoot(pl.base + "/.")
}

// inGit tells whether a path lies in a .git folder, where searches go only when
// they are told to.
func inGit(at string) bool { return slices.Contains(strings.Split(at, "/"), ".git") }
