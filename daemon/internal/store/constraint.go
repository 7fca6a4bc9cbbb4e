package store

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// Constraints returns those of a project's files, in the order in which they were set.
func (s *Store) Constraints(ctx context.Context, project int64) ([]sdk.FileConstraint, error) {
	return s.constraints(ctx, `WHERE c.project = ?`, project)
}

// ConstraintsAt returns those of the project in a directory; none where that is no project.
func (s *Store) ConstraintsAt(ctx context.Context, root string) ([]sdk.FileConstraint, error) {
	return s.constraints(ctx, `JOIN projects p ON p.id = c.project WHERE p.root = ?`, root)
}

func (s *Store) constraints(ctx context.Context, where string, of any) ([]sdk.FileConstraint, error) {
	scan := func(scan scanner) (c sdk.FileConstraint, err error) {
		var created int64
		err = scan(&c.Pattern, (*string)(&c.Constraint), &created)
		c.Created = unix(created)
		return c, err
	}
	all, err := list(s.reader(ctx), scan, `SELECT c.pattern, c.kind, c.created FROM file_constraints c `+where+` ORDER BY c.id`, of)
	return all, explain("reading the constraints of files", err)
}

// Constrain sets the constraint of a pattern, behind all others, or takes it away where it is empty. One that
// is not there is not found.
func (s *Store) Constrain(ctx context.Context, project int64, pattern string, to sdk.Constraint) error {
	if err := s.refuseSecret("a pattern", pattern); err != nil {
		return err
	}
	return s.update(ctx, "setting a constraint of files", func(t *tx) error {
		was, found, err := first(t.query, scanValue[string], `SELECT kind FROM file_constraints WHERE project = ? AND pattern = ?`, project, pattern)
		if err != nil {
			return err
		}
		if !found && to == "" {
			return sdk.Errorf(sdk.NotFound, "the project has no constraint %q; `bothy project constrain` lists those that there are", pattern)
		}
		if found && was == string(to) {
			_, newest, err := first(t.query, scanValue[int], `SELECT 1 FROM file_constraints c WHERE project = ?1 AND pattern = ?2
				AND id = (SELECT max(id) FROM file_constraints WHERE project = ?1)`, project, pattern)
			if err != nil || newest {
				return err
			}
		}
		if err := t.exec(`DELETE FROM file_constraints WHERE project = ? AND pattern = ?`, project, pattern); err != nil {
			return err
		}
		told := map[string]string{"pattern": pattern}
		if to != "" {
			told["constraint"] = string(to)
			if err := t.exec(`INSERT INTO file_constraints (id, project, pattern, kind, created) VALUES (?, ?, ?, ?, ?)`,
				t.nextID(), project, pattern, string(to), t.now.UnixNano()); err != nil {
				return err
			}
		}
		return t.record(event{kind: sdk.KindConstrained, project: project}, told)
	})
}
