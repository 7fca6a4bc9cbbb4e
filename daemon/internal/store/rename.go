package store

import (
	"context"

	sqlite3 "modernc.org/sqlite/lib"

	"github.com/bothyd/bothy/sdk"
)

// RenameRun gives a run another alias, at any time: id and key stay. Conflict
// when another run of the project has the alias.
func (s *Store) RenameRun(ctx context.Context, run int64, alias string) (r sdk.Run, err error) {
	err = s.checkAlias(alias)
	if err != nil {
		return r, err
	}
	err = s.update(ctx, "renaming a run", func(t *tx) (err error) {
		if r, err = t.run(run); err != nil || r.Alias == alias {
			return err
		}
		err = t.exec(`UPDATE runs SET alias = ? WHERE id = ?`, alias, run)
		if hasCode(err, sqlite3.SQLITE_CONSTRAINT_UNIQUE) {
			return sdk.Errorf(sdk.Conflict, "the project has a run called %s already; choose another name", alias)
		}
		if err != nil {
			return err
		}
		from := r.Alias
		r.Alias = alias
		return t.record(event{kind: sdk.KindRunRenamed, project: r.Project, run: r.ID}, map[string]string{"from": from, "to": alias})
	})
	return r, err
}

// Forks returns the runs that were forked from a run, oldest first.
func (s *Store) Forks(ctx context.Context, run int64) ([]sdk.Run, error) {
	all, err := list(s.reader(ctx), scanRun, `SELECT `+runColumns+` FROM runs WHERE parent = ? AND deleted IS NULL ORDER BY id`, run)
	return all, explain("reading the forks of a run", err)
}
