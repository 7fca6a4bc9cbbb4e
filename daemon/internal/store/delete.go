package store

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// DeleteRun removes a run for good: its loops, turns and views, and the bodies
// that nobody else sees. The journal keeps its rows and verifies; a fork keeps
// all it sees. The alias is free afterwards, and the ids of the run, its loops
// and its turns are never used again.
//
// Outcomes: NotFound for a run that is not there; Conflict while a loop of it
// is queued or running, or a turn is open, and while it has children: those go first.
func (s *Store) DeleteRun(ctx context.Context, run int64, reason string) (sdk.Receipt, error) {
	var receipt sdk.Receipt
	err := s.update(ctx, "deleting a run", func(t *tx) error {
		r, err := t.run(run)
		if err != nil {
			return err
		}
		_, busy, err := first(t.query, scanValue[int], `SELECT 1 FROM loops WHERE run = ?1 AND status IN (100, 102)
			UNION ALL SELECT 1 FROM turns WHERE run = ?1 AND closed = 0 LIMIT 1`, run)
		if err == nil && busy { // its end would have no place
			err = sdk.Errorf(sdk.Conflict, "the run %s is at work or has a prompt waiting; end that first (bothy runs abort %s)", r.Alias, r.Alias)
		}
		var child string
		if err == nil {
			child, _, err = first(t.query, scanValue[string], `SELECT alias FROM runs WHERE delegator = ? AND deleted IS NULL`, run)
		}
		if err == nil && child != "" {
			err = sdk.Errorf(sdk.Conflict, "the run %s has the child %s; delete that first", r.Alias, child)
		}
		for _, table := range []string{"run_views", "turns", "loops", "owed"} {
			if err == nil {
				err = t.exec(`DELETE FROM `+table+` WHERE run = ?`, run)
			}
		}
		if err == nil {
			err = t.exec(`UPDATE runs SET deleted = ?1, updated = ?1, alias = 'deleted-' || key, agent = '', model = '', persona = '' WHERE id = ?2`, t.now.UnixNano(), run)
		}
		if err == nil {
			err = t.record(event{kind: sdk.KindRunDeleted, project: r.Project, run: r.ID}, map[string]string{"reason": reason})
		}
		receipt.Seq = t.head.seq
		return err
	})
	return receipt, err
}

// Resting returns the runs, hidden ones too, in which nothing was done since the
// time given and nothing is to be done. A run and its children rest together or not at
// all. The one that rests longest comes first.
func (s *Store) Resting(ctx context.Context, before time.Time) ([]sdk.Run, error) {
	all, err := list(s.reader(ctx), scanRun, existingRun+`id NOT IN `+awake+` ORDER BY updated, id`, before.UnixNano())
	return all, explain("reading the runs that rest", err)
}
