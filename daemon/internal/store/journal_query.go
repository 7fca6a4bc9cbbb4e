package store

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// What scanJournal reads: the row, then its body, the attributes of its entry, and
// the row that made the entry, as far as a query wants them.
const (
	journalColumns = `SELECT j.seq, j.time, j.kind, j.project, j.run, j.loop, j.turn, j.path, j.data, j.body_hash, j.prev_hash, j.hash, `

	headsOnly = `NULL, NULL, NULL FROM journal j`

	bodyJoined = `CASE WHEN j.body_hash IS NULL THEN NULL
	     WHEN j.kind = 'entry.chunk' THEN c.text
	     WHEN e.hash = j.body_hash AND ` + bytesOf + ` <= ? THEN ` + bodyOf + ` END,
	CASE WHEN instr(j.data, '"hashed":{') > 0 THEN e.attributes END, NULL
	FROM journal j
	LEFT JOIN entries e ON e.id = j.entry AND e.path = j.path
	LEFT JOIN chunks c ON c.seq = j.seq`

	actionJoined = `NULL, e.attributes, f.data
	FROM journal j
	LEFT JOIN entries e ON e.id = j.entry AND e.path = j.path
	LEFT JOIN journal f ON f.seq = j.entry AND f.path = j.path`

	ofAudit = ` AND (j.kind = 'entry.set' AND j.body_hash IS NOT NULL AND j.path GLOB 'log://turn_*' AND instr(j.data, '"phase":"ended"') > 0
		OR j.kind IN ('note.call', 'note.security'))`
)

// Journal returns the rows that a query asks for, in order. What a row gave its
// entry, body and long attributes, is joined while the entry still holds it;
// what was overwritten, removed or folded since is not, and later rows tell of
// that. A body that is too long for the query is not even read.
func (s *Store) Journal(ctx context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error) {
	text, args := journalText(q)
	read, err := list(s.reader(ctx), scanJournal, text, args...)
	resolver := newResolver(s.reader(ctx))
	var rows []sdk.JournalRow
	for i := range read {
		r := &read[i]
		if err == nil && !q.Heads {
			err = r.fill(resolver, q.Audit)
		}
		rows = append(rows, r.JournalRow)
	}
	if err != nil {
		return nil, explain("reading the journal", err)
	}
	return rows, nil
}

func journalText(q sdk.JournalQuery) (text string, args []any) {
	switch {
	case q.Audit:
		text = actionJoined
	case q.Heads:
		text = headsOnly
	default:
		text, args = bodyJoined, []any{orAll(q.Longest)}
	}
	text += ` WHERE j.seq > ?`
	args = append(args, q.After)
	narrow := func(wanted bool, condition string, values ...any) {
		if wanted {
			text += condition
			args = append(args, values...)
		}
	}
	narrow(q.Audit, ofAudit)
	narrow(q.Run != 0 && !q.Children, ` AND j.run = ?`, q.Run)
	narrow(q.Children, ` AND j.seq IN (SELECT seq FROM journal WHERE seq > ? AND run IN `+downFrom(`VALUES (?)`)+` ORDER BY seq LIMIT ? + 0)`, // sorted before the rows are read
		q.After, q.Run, orAll(q.Limit))
	narrow(q.Project != 0, ` AND j.project = ?`, q.Project)
	narrow(!q.Since.IsZero(), ` AND j.time >= ?`, unixNano(q.Since))
	narrow(q.Notes, ` AND j.path = ''`)
	if len(q.Kinds) > 0 {
		text += ` AND j.kind IN (?` + strings.Repeat(", ?", len(q.Kinds)-1) + `)`
		for _, kind := range q.Kinds {
			args = append(args, kind)
		}
	}
	order := ` ORDER BY j.seq LIMIT ? + 0` // SQLite makes a plan for each value of a bare LIMIT ?, every time
	if q.Newest {
		order = ` ORDER BY j.seq DESC LIMIT ? + 0`
	}
	return journalColumns + text + order, append(args, orAll(q.Limit))
}

// orAll is a bound that was given, or else none.
func orAll(bound int) int {
	if bound <= 0 {
		return math.MaxInt
	}
	return bound
}

// readRow is a row with what was read beside it.
type readRow struct {
	sdk.JournalRow
	attributes, first []byte
}

func scanJournal(scan scanner) (r readRow, err error) {
	var at int64
	var data, bodyHash, prev, hash []byte
	err = scan(&r.Seq, &at, &r.Kind, &r.Project, &r.Run, &r.Loop, &r.Turn, &r.Path, &data, &bodyHash, &prev, &hash, &r.Body, &r.attributes, &r.first)
	r.Time, r.Data = unix(at), data
	r.BodyHash, r.Prev, r.Hash = hex.EncodeToString(bodyHash), hex.EncodeToString(prev), hex.EncodeToString(hash)
	return r, err
}

// fill writes the attributes of a row anew: for the audit all that the action has,
// else with the long ones that the entry still holds, and in both what they refer to.
func (r *readRow) fill(resolver *resolver, audit bool) error {
	if r.Kind != sdk.KindEntrySet || !audit && r.attributes == nil && !bytes.Contains(r.Data, refersMark) {
		return nil
	}
	var c sdk.EntryChange
	err := json.Unmarshal(r.Data, &c)
	all := json.RawMessage(r.attributes)
	switch {
	case err != nil:
	case !audit:
		all, err = r.withLong(&c)
	case all == nil: // the entry is gone: what it was made with, and how it ended
		var first sdk.EntryChange
		if r.first != nil {
			err = json.Unmarshal(r.first, &first)
		}
		if err == nil {
			all, _, err = mergeAttributes(first.Attributes, c.Attributes)
		}
	}
	if err == nil {
		c.Attributes, err = resolver.fill(r.Run, c.Phase, all)
	}
	if err == nil {
		r.Data, err = encode(c)
	}
	if err != nil {
		return fmt.Errorf("reading row %d: %w", r.Seq, err)
	}
	return nil
}

// withLong is what the row says was written, with the long attributes that stand as
// they were written then.
func (r *readRow) withLong(c *sdk.EntryChange) (json.RawMessage, error) {
	now, err := parseMembers(r.attributes)
	if err != nil {
		return nil, err
	}
	shown, err := parseMembers(c.Attributes)
	if err != nil {
		return nil, err
	}
	for name, hash := range c.Hashed {
		if value, ok := now[name]; ok && hexHash(value) == hash {
			shown[name] = value
		}
	}
	return encodeMembers(shown)
}
