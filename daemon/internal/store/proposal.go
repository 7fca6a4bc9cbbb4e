package store

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// Proposed returns the actions that wait for a person, of all runs, oldest
// first. An entry without a phase is no action, whatever its state says.
func (s *Store) Proposed(ctx context.Context) ([]sdk.EntryEvent, error) {
	return s.proposals(ctx, `FROM runs r CROSS JOIN run_views v ON v.run = r.id AND v.state = 'proposed' AND v.phase <> '' JOIN entries e ON e.id = v.entry
		WHERE r.status = 202 AND r.deleted IS NULL ORDER BY v.updated, v.id`)
}

// Answered returns the actions that waited for a person once, newest first, at
// most so many: of a run, and of those below it. Project and run are not asked about where they are 0. The id is
// the beginning of the proposal's; an action may be among them that only looks
// as if it had that. Forks have what they saw of their parents left out.
func (s *Store) Answered(ctx context.Context, project, run int64, id string, limit int) ([]sdk.EntryEvent, error) {
	return s.proposals(ctx, `FROM runs r JOIN run_views v ON v.run = r.id AND v.phase <> '' AND v.state <> 'proposed' JOIN entries e ON e.id = v.entry
		WHERE r.deleted IS NULL AND (?1 = 0 OR r.project = ?1) AND (?2 = 0 OR r.id IN `+downFrom(`VALUES (?2)`)+`) AND e.scope = 'run:' || r.id
		AND instr(e.attributes, '"proposal":{') > 0 AND (?3 = '' OR instr(e.attributes, '"id":"' || ?3) > 0)
		ORDER BY v.updated DESC, v.id DESC LIMIT ?4 + 0`, project, run, id, limit)
}

func (s *Store) proposals(ctx context.Context, from string, args ...any) ([]sdk.EntryEvent, error) {
	all, err := list(s.reader(ctx), scanEvent, `SELECT v.run, `+entryColumns+` `+from, args...)
	for i := range all {
		if err == nil {
			err = newResolver(s.reader(ctx)).fillEntry(all[i].Run, &all[i].Entry)
		}
	}
	if err != nil {
		return nil, explain("reading proposals", err)
	}
	return all, nil
}

func scanEvent(scan scanner) (x sdk.EntryEvent, err error) {
	x.Entry, err = scanEntry(func(into ...any) error { return scan(append([]any{&x.Run}, into...)...) })
	return x, err
}
