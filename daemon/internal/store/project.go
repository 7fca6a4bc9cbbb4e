package store

import (
	"context"
	"path/filepath"

	"github.com/bothyd/bothy/sdk"
)

const projectColumns = `id, name, root, created`

func scanProject(scan scanner) (sdk.Project, error) {
	var p sdk.Project
	var created int64
	err := scan(&p.ID, &p.Name, &p.Root, &created)
	p.Created = unix(created)
	return p, err
}

// OpenProject returns the project of a directory and makes it when it is new.
// The root must be absolute, with symlinks resolved by the caller. The name is
// the directory's, with a number behind it when another project has it.
func (s *Store) OpenProject(ctx context.Context, root string) (sdk.Project, error) {
	if !filepath.IsAbs(root) {
		return sdk.Project{}, sdk.Errorf(sdk.Validation, "the root of a project must be an absolute path, not %q", root)
	}
	root = filepath.Clean(root)
	const byRoot = `SELECT ` + projectColumns + ` FROM projects WHERE root = ?`
	p, found, err := first(s.finder(ctx), scanProject, byRoot, root)
	if err != nil || found {
		return p, explain("reading a project", err)
	}
	err = s.update(ctx, "opening the project "+root, func(t *tx) error {
		if p, found, err = first(t.query, scanProject, byRoot, root); err != nil || found {
			return err
		}
		p = sdk.Project{Root: root, Created: t.now}
		if p.Name, err = t.free(filepath.Base(root), filepath.Base(root), 2, `SELECT 1 FROM projects WHERE name = ?`); err != nil {
			return err
		}
		if p.ID, err = t.insert(`INSERT INTO projects (name, root, created) VALUES (?, ?, ?)`, p.Name, root, t.now.UnixNano()); err != nil {
			return err
		}
		return t.record(event{kind: sdk.KindProjectCreated, project: p.ID}, map[string]string{"name": p.Name, "root": root})
	})
	return p, err
}

// Project returns a project by id; NotFound when there is none.
func (s *Store) Project(ctx context.Context, id int64) (sdk.Project, error) {
	p, found, err := first(s.finder(ctx), scanProject, `SELECT `+projectColumns+` FROM projects WHERE id = ?`, id)
	if err == nil && !found {
		err = sdk.Errorf(sdk.NotFound, "there is no project with the id %d", id)
	}
	return p, explain("reading a project", err)
}

// Projects returns all projects in the order they were first opened.
func (s *Store) Projects(ctx context.Context) ([]sdk.Project, error) {
	all, err := list(s.reader(ctx), scanProject, `SELECT `+projectColumns+` FROM projects ORDER BY id`)
	return all, explain("reading the projects", err)
}
