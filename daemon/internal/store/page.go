package store

import (
	"context"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// briefQuery is journalQuery without the bodies longer than ?1 bytes, which
// are not even read.
var briefQuery = strings.Replace(
	strings.Replace(journalQuery, "e.hash = j.body_hash THEN", "e.hash = j.body_hash AND octet_length(e.body) <= ?1 THEN", 1),
	"j.seq > ?", "j.seq > ?2", 1)

// JournalBrief is Journal without the bodies that are longer than the number
// of bytes given: who follows a run reads pages of rows, and one command may
// have printed 10 MB.
func (s *Store) JournalBrief(ctx context.Context, after int64, limit int, run int64, longest int) ([]sdk.JournalRow, error) {
	if limit <= 0 {
		limit = -1
	}
	q, args := briefQuery+` ORDER BY j.seq LIMIT ?3`, []any{longest, after, limit}
	if run != 0 {
		q, args = briefQuery+` AND j.run = ?4 ORDER BY j.seq LIMIT ?3`, append(args, run)
	}
	rows, err := s.journalRows(ctx, q, args)
	return s.filled(ctx, rows, err)
}

// Notes returns the rows of a run that speak of no entry, in order: what
// happened to it and its loops and turns, and what was noted. They are short.
func (s *Store) Notes(ctx context.Context, run int64) ([]sdk.JournalRow, error) {
	return s.journalRows(ctx, journalQuery+` AND j.run = ? AND j.path = '' ORDER BY j.seq`, []any{0, run})
}

// Newest returns the newest row of a run that is of one of the kinds, an empty
// one when there is none. It reads no body.
func (s *Store) Newest(ctx context.Context, run int64, kinds ...string) (sdk.JournalRow, error) {
	if len(kinds) == 0 {
		return sdk.JournalRow{}, nil
	}
	args := []any{run}
	for _, k := range kinds {
		args = append(args, k)
	}
	var r sdk.JournalRow
	var at int64
	var data []byte
	_, err := s.one(ctx, `SELECT seq, time, kind, project, run, loop, turn, path, data FROM journal
		WHERE run = ? AND kind IN (?`+strings.Repeat(", ?", len(kinds)-1)+`) ORDER BY seq DESC LIMIT 1`, args, func(scan scanner) error {
		err := scan(&r.Seq, &at, &r.Kind, &r.Project, &r.Run, &r.Loop, &r.Turn, &r.Path, &data)
		r.Time, r.Data = unix(at), data
		return err
	})
	return r, explain("reading the journal", err)
}

func (s *Store) journalRows(ctx context.Context, q string, args []any) ([]sdk.JournalRow, error) {
	var rows []sdk.JournalRow
	err := s.query(ctx, q, args, func(scan scanner) error {
		r, err := scanJournal(scan)
		rows = append(rows, r)
		return err
	})
	return rows, explain("reading the journal", err)
}
