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
	     WHEN e.hash = j.body_hash AND octet_length(e.body) <= ? THEN e.body END,
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
		switch {
		case err != nil || q.Heads:
		case q.Audit && r.Kind == sdk.KindEntrySet:
			err = r.fillAction(resolver)
		case !q.Audit:
			err = r.fillLong(resolver)
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
	narrow(q.Run != 0, ` AND j.run = ?`, q.Run)
	narrow(q.Project != 0, ` AND j.project = ?`, q.Project)
	narrow(!q.Since.IsZero(), ` AND j.time >= ?`, unixNano(q.Since))
	narrow(q.Notes, ` AND j.path = ''`)
	if len(q.Kinds) > 0 {
		text += ` AND j.kind IN (?` + strings.Repeat(", ?", len(q.Kinds)-1) + `)`
		for _, kind := range q.Kinds {
			args = append(args, kind)
		}
	}
	order := ` ORDER BY j.seq LIMIT ?`
	if q.Newest {
		order = ` ORDER BY j.seq DESC LIMIT ?`
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

// fillLong adds the long attributes that the entry still holds, and those that
// stand in another entry.
func (r *readRow) fillLong(resolver *resolver) error {
	if r.Kind != sdk.KindEntrySet || r.attributes == nil && !bytes.Contains(r.Data, refersMark) {
		return nil
	}
	var c sdk.EntryChange
	if err := json.Unmarshal(r.Data, &c); err != nil {
		return err
	}
	now, err := parseMembers(r.attributes)
	if err != nil {
		return err
	}
	shown, err := parseMembers(c.Attributes)
	if err != nil {
		return err
	}
	for name, hash := range c.Hashed {
		if value, ok := now[name]; ok && hexHash(value) == hash {
			shown[name] = value
		}
	}
	all, err := encodeMembers(shown)
	if err != nil {
		return err
	}
	return r.change(resolver, c, all)
}

// fillAction gives the row of an action's end all attributes that the action has,
// its call's too: what that was stands in its entry, and in the row that made the
// entry, should that be gone.
func (r *readRow) fillAction(resolver *resolver) error {
	var end, first sdk.EntryChange
	if err := json.Unmarshal(r.Data, &end); err != nil {
		return err
	}
	all := json.RawMessage(r.attributes)
	if all == nil {
		if r.first != nil {
			if err := json.Unmarshal(r.first, &first); err != nil {
				return err
			}
		}
		merged, _, err := mergeAttributes(first.Attributes, end.Attributes)
		if err != nil {
			return err
		}
		all = merged
	}
	return r.change(resolver, end, all)
}

// change writes a row's data with these attributes and what they refer to.
func (r *readRow) change(resolver *resolver, c sdk.EntryChange, attributes json.RawMessage) (err error) {
	if c.Attributes, err = resolver.fill(r.Run, c.Phase, attributes); err != nil {
		return fmt.Errorf("finding what row %d refers to: %w", r.Seq, err)
	}
	r.Data, err = encode(c)
	return err
}
