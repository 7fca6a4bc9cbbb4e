package store

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// Delegators returns the runs that the work of a run was delegated by, the one in which it began first; none
// for a run that is no child.
func (s *Store) Delegators(ctx context.Context, run int64) ([]sdk.Run, error) {
	all, err := list(s.reader(ctx), scanRun, `WITH RECURSIVE up (of, depth) AS (SELECT delegator, 1 FROM runs WHERE id = ?
			UNION ALL SELECT r.delegator, up.depth + 1 FROM runs r JOIN up ON r.id = up.of)
		SELECT `+runColumns+` FROM up JOIN runs ON runs.id = up.of WHERE deleted IS NULL ORDER BY depth DESC`, run)
	return all, explain("reading who delegated the work of a run", err)
}

// downFrom selects the ids of runs, those that a query begins with, and of all below them: the runs that they
// delegated work to, and that those did.
func downFrom(first string) string {
	return `(WITH RECURSIVE down (id) AS (` + first + ` UNION ALL SELECT r.id FROM runs r JOIN down ON r.delegator = down.id) SELECT id FROM down)`
}

// awake selects the ids of the runs in which something was done since ?1 or is to be done, and of all that hang
// together with them by delegation.
const awake = `(WITH RECURSIVE awake (id) AS (
		SELECT id FROM runs r WHERE r.deleted IS NULL AND (r.updated >= ?1
			OR EXISTS (SELECT 1 FROM loops l WHERE l.run = r.id AND l.status IN (100, 102))
			OR EXISTS (SELECT 1 FROM turns t WHERE t.run = r.id AND t.closed = 0))
		UNION SELECT r.id FROM runs r JOIN awake ON r.delegator = awake.id
		UNION SELECT r.delegator FROM runs r JOIN awake ON r.id = awake.id WHERE r.delegator IS NOT NULL
	) SELECT id FROM awake)`
