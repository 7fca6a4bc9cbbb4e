package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Files makes entries of the files of projects, and keeps them as the disk has them (package project, decision 90).
type Files interface {
	// Scan looks at all of a project, by size and time.
	Scan(ctx context.Context, p sdk.Project) (sdk.Scanned, error)
	// Refresh looks at some paths of it, whatever their size and time.
	Refresh(ctx context.Context, p sdk.Project, paths []string) error
	// Manifest is the list of its files; empty when there are none.
	Manifest(ctx context.Context, p sdk.Project) (string, error)
	// Constrain sets what becomes of some files, or takes that away where it is empty, and scans.
	Constrain(ctx context.Context, p sdk.Project, pattern string, to sdk.Constraint) (sdk.Scanned, error)
}

// scanTime bounds a scan at the start of a loop; what it has by then is there, and the next goes on.
const scanTime = 20 * time.Second

// ScanProject makes the files of a directory entries of its project, which is made where there is none.
func (e *Engine) ScanProject(ctx context.Context, root string) (sdk.Project, sdk.Scanned, error) {
	return e.inFiles(ctx, root, func(p sdk.Project) (sdk.Scanned, error) { return e.cfg.Files.Scan(ctx, p) })
}

// ConstrainProject sets what becomes of the files of a project that a pattern fits, or takes that away where it is empty, and
// scans the project.
func (e *Engine) ConstrainProject(ctx context.Context, root, pattern string, to sdk.Constraint) (sdk.Project, sdk.Scanned, error) {
	return e.inFiles(ctx, root, func(p sdk.Project) (sdk.Scanned, error) { return e.cfg.Files.Constrain(ctx, p, pattern, to) })
}

func (e *Engine) inFiles(ctx context.Context, root string, do func(sdk.Project) (sdk.Scanned, error)) (p sdk.Project, done sdk.Scanned, err error) {
	leave, err := e.enter()
	if err != nil {
		return p, done, err
	}
	defer leave()
	if e.cfg.Files == nil {
		return p, done, sdk.Errorf(sdk.Unavailable, "this daemon makes no entries of files")
	}
	if p, err = e.openProject(ctx, root); err != nil {
		return p, done, err
	}
	done, err = do(p)
	return p, done, err
}

// filed reports whether a loop's run has the files of its project as entries.
func (e *Engine) filed(a *activeLoop) bool {
	return e.cfg.Files != nil && !a.run.NoRepo && !a.run.Private
}

// scanFiles has the entries of the project's files be as the disk has them when a loop begins or goes on. Of a run that has none
// yet it makes the list of them. That it fails, or takes too long, is no end of the loop.
func (e *Engine) scanFiles(ctx context.Context, a *activeLoop) {
	if !e.filed(a) {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, scanTime)
	defer cancel()
	began := time.Now()
	done, err := settle(ctx, e, "scanning the files of the project", func() (sdk.Scanned, error) { return e.cfg.Files.Scan(ctx, a.project) })
	if err != nil {
		e.log.Warn("the files of the project could not all be looked at", "project", a.project.Root, "error", err)
		return
	}
	e.log.Debug("looked at the files of the project", "project", a.project.Root, "files", done.Files, "changed", done.Changed, "removed", done.Removed, "partial", done.Partial, "took", time.Since(began))
	if _, err := e.cfg.Store.Entry(ctx, a.run.ID, sdk.ManifestPath); sdk.OutcomeOf(err) != sdk.NotFound {
		return
	}
	list, err := e.cfg.Files.Manifest(ctx, a.project)
	if err != nil {
		e.log.Warn("the list of the project's files could not be made", "project", a.project.Root, "error", err)
		return
	}
	if list != "" {
		a.first = []sdk.Write{{Path: sdk.ManifestPath, Body: &list, Writer: sdk.WriterSystem, State: sdk.StateResolved, Visibility: sdk.Visible}}
	}
}

// refreshFiles looks again at what some ended calls changed in the project: at the paths that they tell of, and at all
// of it where they may have changed more.
func (e *Engine) refreshFiles(ctx context.Context, a *activeLoop, over []*action) {
	paths, whole := touched(over)
	e.lookAgain(ctx, a, paths, whole)
}

// lookAgain has the entries of some paths be as the disk has them, and those of the whole project.
func (e *Engine) lookAgain(ctx context.Context, a *activeLoop, paths []string, whole bool) {
	if !e.filed(a) || len(paths) == 0 && !whole {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, scanTime)
	defer cancel()
	_, err := settle(ctx, e, "looking at files that were changed", func() (struct{}, error) {
		if whole {
			_, err := e.cfg.Files.Scan(ctx, a.project)
			return struct{}{}, err
		}
		return struct{}{}, e.cfg.Files.Refresh(ctx, a.project, paths)
	})
	if err != nil && ctx.Err() == nil {
		e.log.Warn("what calls changed in the project could not be looked at; the next prompt does it", "project", a.project.Root, "error", err)
	}
}

// touched are the paths that calls changed, each once. whole says that they may have changed others.
func touched(over []*action) (paths []string, whole bool) {
	for _, x := range over {
		if x.untold() || x.result.ChangesKept != "" {
			whole = true
		}
		for _, c := range x.result.Changes {
			for _, s := range []*sdk.FileState{c.Before, c.After} {
				whole = whole || s != nil && s.Kind == "directory" && c.From != "" // all in it has another path
			}
			whole = whole || strings.HasSuffix("/"+c.Path, "/.gitignore")
			paths = append(paths, c.Path)
			if c.From != "" {
				paths = append(paths, c.From)
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), whole
}
