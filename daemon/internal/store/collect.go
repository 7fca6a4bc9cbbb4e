package store

import (
	"context"
	"slices"
	"time"

	"github.com/bothyd/bothy/daemon/internal/failpoint"
	"github.com/bothyd/bothy/sdk"
)

// Resting returns the runs, hidden ones too, in which nothing was done since the
// time given and nothing is to be done. The one that rests longest comes first.
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

// Collect removes the entries of runs that no run sees any more: what a deleted run
// had shared with forks that are gone too. It may end between two transactions and
// be called again. Nobody sees a difference, so the journal tells nothing of it.
func (s *Store) Collect(ctx context.Context) (removed int64, err error) {
	ids, err := list(s.reader(ctx), scanValue[int64], unseenEntries+` AND e.scope >= 'run:' AND e.scope < 'run;'`)
	if err != nil {
		return 0, explain("looking for entries that no run sees", err)
	}
	const unseen = ` = ?1 AND NOT EXISTS (SELECT 1 FROM run_views WHERE entry = ?1)` // still
	for batch := range slices.Chunk(ids, collectBatch) {
		err := s.update(ctx, "removing entries that no run sees", func(t *tx) error {
			for _, id := range batch {
				if err := t.exec(`DELETE FROM chunks WHERE entry`+unseen, id); err != nil {
					return err
				}
				found, err := t.one(`DELETE FROM entries WHERE id`+unseen+` RETURNING id`, []any{id}, &id)
				if err != nil {
					return err
				}
				if found {
					removed++
				}
			}
			return nil
		})
		if err != nil {
			return removed, err
		}
		failpoint.Hit(failpoint.CollectBetween)
	}
	return removed, nil
}
