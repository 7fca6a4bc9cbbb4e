package store

import (
	"context"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// Unrested returns the runs that have prompts which no rest reached, in which nothing was done since the time given and
// nothing is to be done: runs of channels or all others, or with left those that nobody goes on with, whatever they are. Children
// are not among them; a run and its children are done or not at all.
func (s *Store) Unrested(ctx context.Context, before time.Time, which sdk.Unrested) ([]sdk.Run, error) {
	all, err := list(s.reader(ctx), scanRun, unrestedQuery, before.UnixNano(), string(which))
	return all, explain("reading the runs that come to rest", err)
}

const unrestedQuery = existingRun + `loops > rested AND NOT hidden AND delegator IS NULL
	AND CASE ?2 WHEN 'left' THEN leaving WHEN 'channels' THEN channel <> '' ELSE channel = '' END
	AND id NOT IN ` + awake + ` ORDER BY updated, id`

// Rest notes that a run rests, with the prompts that no rest reached before, and that plugins are owed the news of it.
// False is that there is no such prompt. Conflict while one waits or is worked on.
func (s *Store) Rest(ctx context.Context, run int64, why string, plugins []string) (rested bool, err error) {
	err = s.update(ctx, "noting that a run rests", func(t *tx) error {
		rested = false
		r, err := t.run(run)
		if err != nil {
			return err
		}
		o := sdk.OwedRest{Run: run, Why: why}
		open := 0
		_, err = t.one(`SELECT rested + 1, loops, (SELECT count(*) FROM loops WHERE run = runs.id AND status IN (100, 102)) FROM runs WHERE id = ?`, []any{run}, &o.From, &o.To, &open)
		switch {
		case err != nil:
			return err
		case open > 0:
			return sdk.Errorf(sdk.Conflict, "the run %s does not rest: a prompt of it waits or is worked on", r.Alias)
		case o.From > o.To:
			return nil
		}
		if err := t.exec(`UPDATE runs SET rested = loops, leaving = 0 WHERE id = ?`, run); err != nil {
			return err
		}
		for _, o.Plugin = range plugins {
			if err := t.exec(`INSERT INTO owed (run, plugin, first, last, why) VALUES (?, ?, ?, ?, ?)`, run, o.Plugin, o.From, o.To, why); err != nil {
				return err
			}
		}
		rested = true
		return t.record(event{kind: sdk.KindRunRested, project: r.Project, run: r.ID}, map[string]any{"from": o.From, "to": o.To, "why": why})
	})
	return rested, err
}

// Leave notes that nobody goes on with a run: it rests as soon as nothing of it is open, and a conversation goes on in
// another one. A prompt takes that back.
func (s *Store) Leave(ctx context.Context, run int64) error {
	return s.update(ctx, "leaving a run", func(t *tx) error {
		r, err := t.run(run)
		if err != nil {
			return err
		}
		return t.exec(`UPDATE runs SET leaving = 1 WHERE id = ?`, r.ID)
	})
}

// Owed returns what plugins have yet to hear, oldest first.
func (s *Store) Owed(ctx context.Context) ([]sdk.OwedRest, error) {
	all, err := list(s.reader(ctx), func(scan scanner) (o sdk.OwedRest, err error) {
		err = scan(&o.Run, &o.Plugin, &o.From, &o.To, &o.Why)
		return o, err
	}, `SELECT run, plugin, first, last, why FROM owed ORDER BY run, last`)
	return all, explain("reading what plugins are to be told", err)
}

// Heard notes that a plugin heard of a rest. Of a run that is gone there is nothing to note.
func (s *Store) Heard(ctx context.Context, o sdk.OwedRest) error {
	return s.update(ctx, "noting what a plugin heard", func(t *tx) error {
		r, err := t.run(o.Run)
		if sdk.OutcomeOf(err) == sdk.NotFound {
			return nil
		}
		if err != nil {
			return err
		}
		_, owed, err := first(t.query, scanValue[int], `SELECT 1 FROM owed WHERE run = ? AND plugin = ? AND last = ?`, o.Run, o.Plugin, o.To)
		if err != nil || !owed {
			return err
		}
		if err := t.exec(`DELETE FROM owed WHERE run = ? AND plugin = ? AND last = ?`, o.Run, o.Plugin, o.To); err != nil {
			return err
		}
		return t.record(event{kind: sdk.KindRestHeard, project: r.Project, run: r.ID}, map[string]any{"plugin": o.Plugin, "to": o.To})
	})
}

// Conversation is the run in which a conversation of a channel goes on: of those that do not rest and were not left, the one
// that was given a prompt last; false where there is none.
func (s *Store) Conversation(ctx context.Context, project int64, of sdk.Origin, conversation string) (sdk.Run, bool, error) {
	r, found, err := first(s.finder(ctx), scanRun, existingRun+`project = ? AND owner = ? AND channel = ? AND conversation = ? AND delegator IS NULL AND NOT hidden
		AND NOT leaving AND (loops > rested OR NOT EXISTS (SELECT 1 FROM loops WHERE loops.run = runs.id)) `+lastPrompted+` LIMIT 1`, project, of.Owner, of.Channel, conversation)
	return r, found, explain("reading the runs of a conversation", err)
}

// lastPrompted orders runs by when they were given a prompt last, and those that were given none by when they were made.
const lastPrompted = `ORDER BY coalesce((SELECT max(loops.created) FROM loops WHERE loops.run = runs.id), runs.created) DESC, id DESC`
