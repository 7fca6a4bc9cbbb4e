package store

import (
	"context"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// Resting returns the runs in which nothing was done since the time given and
// nothing is to be done: no loop is queued or running, no turn is open. Hidden
// ones are among them. The one that rests longest comes first.
func (s *Store) Resting(ctx context.Context, before time.Time) ([]sdk.Run, error) {
	all, err := list(s.reader(ctx), scanRun, `SELECT `+runColumns+` FROM runs r WHERE r.deleted IS NULL AND r.updated < ?
		AND NOT EXISTS (SELECT 1 FROM loops l WHERE l.run = r.id AND l.status IN (100, 102))
		AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.run = r.id AND t.closed = 0)
		ORDER BY r.updated, r.id`, before.UnixNano())
	return all, explain("reading the runs that rest", err)
}

// collectBatch is how many entries one transaction of Collect removes, so that
// other writes need not wait long.
const collectBatch = 200

// Collect removes the entries that belonged to runs and that no run sees any
// more: what a deleted run had shared with forks that are gone too. It may end
// between two transactions and be called again. Nobody sees a difference, so
// the journal tells nothing of it.
func (s *Store) Collect(ctx context.Context) (removed int64, err error) {
	scope, path := "", ""
	for {
		var ids []int64
		err := s.query(ctx, `SELECT e.id, e.scope, e.path FROM entries e
			WHERE e.scope >= 'run:' AND e.scope < 'run;' AND (e.scope, e.path) > (?, ?)
			AND NOT EXISTS (SELECT 1 FROM run_views v WHERE v.entry = e.id)
			ORDER BY e.scope, e.path LIMIT ?`, []any{scope, path, collectBatch}, func(scan scanner) error {
			var id int64
			err := scan(&id, &scope, &path)
			ids = append(ids, id)
			return err
		})
		if err != nil || len(ids) == 0 {
			return removed, explain("looking for entries that no run sees", err)
		}
		n, err := s.collect(ctx, ids)
		if removed += n; err != nil {
			return removed, err
		}
		failpoint.Hit(failpoint.CollectBetween)
	}
}

// collect removes those of the entries that still nobody sees.
func (s *Store) collect(ctx context.Context, ids []int64) (removed int64, err error) {
	err = s.update(ctx, "removing entries that no run sees", func(t *tx) error {
		for _, id := range ids {
			_, found, err := first(t.query, scanValue[int], `SELECT 1 FROM run_views WHERE entry = ? LIMIT 1`, id)
			if err != nil {
				return err
			}
			if found {
				continue
			}
			if err := t.exec(`DELETE FROM chunks WHERE entry = ?`, id); err != nil {
				return err
			}
			if err := t.exec(`DELETE FROM entries WHERE id = ?`, id); err != nil {
				return err
			}
			removed++
		}
		return nil
	})
	return removed, err
}
