package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// Verify recomputes the journal's hash chain over the last rows (0 is all), and
// compares what those rows gave to entries with what the entries hold. What is
// wrong comes as a *sdk.JournalDamage that names the first bad row. It detects rot and
// mistakes; it is no seal against the owner of the file, who can compute a new
// chain.
func (s *Store) Verify(ctx context.Context, last int) error {
	err := s.borrow(ctx, func(conn *sql.Conn) error { return verifyJournal(ctx, conn, s.path, last) })
	return explain("verifying the journal", err)
}

// verifyJournal verifies on a connection of any kind.
func verifyJournal(ctx context.Context, conn *sql.Conn, path string, last int) error {
	v := verifier{ctx: ctx, conn: conn}
	err := v.run(last)
	var damage *sdk.JournalDamage
	if errors.As(err, &damage) {
		return sdk.Errorf(sdk.Internal, "%s: %w; keep a copy of the file with its -wal file, then restore a backup", path, damage)
	}
	return explain("verifying the journal", err)
}

// verifier works on one snapshot.
type verifier struct {
	ctx    context.Context
	conn   *sql.Conn
	damage *sdk.JournalDamage // the first in the order of seq
}

func (v *verifier) run(last int) (err error) {
	if _, err := v.conn.ExecContext(v.ctx, `BEGIN`); err != nil {
		return err
	}
	defer func() {
		_, end := v.conn.ExecContext(context.WithoutCancel(v.ctx), `ROLLBACK`)
		err = errors.Join(err, end)
	}()
	from := int64(1)
	if last > 0 {
		if err := v.conn.QueryRowContext(v.ctx, `SELECT coalesce(max(seq), 0) FROM journal`).Scan(&from); err != nil {
			return err
		}
		from = max(1, from-int64(last)+1)
	}
	if err := v.chain(from); err != nil {
		return err
	}
	if err := v.contents(from); err != nil {
		return err
	}
	if v.damage != nil {
		return v.damage
	}
	return nil
}

// found keeps the damage that comes first.
func (v *verifier) found(seq int64, format string, args ...any) {
	if v.damage == nil || seq < v.damage.Seq {
		v.damage = &sdk.JournalDamage{Seq: seq, What: fmt.Sprintf(format, args...)}
	}
}

// chain recomputes the rows from seq on, each from the hash of the row before.
func (v *verifier) chain(from int64) error {
	prev, err := v.hashBefore(from)
	if err != nil || v.damage != nil {
		return err
	}
	rows, err := v.conn.QueryContext(v.ctx, `SELECT seq, time, kind, project, run, loop, turn, path, data, body_hash, prev_hash, hash
		FROM journal WHERE seq >= ? ORDER BY seq`, from)
	if err != nil {
		return err
	}
	defer rows.Close()
	var scratch []byte
	for want := from; rows.Next(); want++ {
		var e event
		var seq, at int64
		var body, storedPrev, stored []byte
		if err := rows.Scan(&seq, &at, &e.kind, &e.project, &e.run, &e.loop, &e.turn, &e.path, (*[]byte)(&e.data), &body, &storedPrev, &stored); err != nil {
			return err
		}
		if seq != want {
			v.found(want, "the row is missing")
			return nil
		}
		if len(body) == sha256.Size {
			e.body = (*digest)(body)
		}
		var hash digest
		hash, scratch = rowHash(scratch, &prev, seq, at, &e)
		switch {
		case !bytes.Equal(storedPrev, prev[:]):
			v.found(seq, "it does not follow from the row before it")
			return nil
		case !bytes.Equal(stored, hash[:]):
			v.found(seq, "its content and its hash do not agree")
			return nil
		}
		prev = hash
	}
	return rows.Err()
}

// hashBefore is the stored hash of the row before seq, and zero before the first.
func (v *verifier) hashBefore(seq int64) (prev digest, err error) {
	if seq == 1 {
		return prev, nil
	}
	var hash []byte
	err = v.conn.QueryRowContext(v.ctx, `SELECT hash FROM journal WHERE seq = ?`, seq-1).Scan(&hash)
	if errors.Is(err, sql.ErrNoRows) {
		v.found(seq-1, "the row is missing")
		return prev, nil
	}
	copy(prev[:], hash)
	return prev, err
}

// seen is what later rows have said about an entry.
type seen struct {
	body    bool
	members map[string]bool
}

// contents compares entries with the rows that gave them what they hold,
// newest first, so that the first row to speak of a body or a member is the one
// that counts.
func (v *verifier) contents(from int64) error {
	rows, err := v.conn.QueryContext(v.ctx, `SELECT j.seq, j.kind, j.data, j.body_hash, j.entry, e.id IS NOT NULL, e.hash,
		CASE WHEN j.body_hash IS NULL THEN NULL WHEN j.kind = 'entry.chunk' THEN c.text ELSE e.body END, e.attributes
		FROM journal j LEFT JOIN entries e ON e.id = j.entry LEFT JOIN chunks c ON c.seq = j.seq
		WHERE j.seq >= ? AND j.entry IS NOT NULL ORDER BY j.seq DESC`, from)
	entries := map[int64]*seen{}
	return eachRow(rows, err, func(scan scanner) error {
		var c content
		err := scan(&c.seq, &c.kind, &c.data, &c.bodyHash, &c.entry, &c.there, &c.entryHash, &c.body, &c.attributes)
		if entries[c.entry] == nil {
			entries[c.entry] = &seen{members: map[string]bool{}}
		}
		if err == nil && c.there {
			v.compare(&c, entries[c.entry])
		}
		return err
	})
}

// content is a row that gave something to an entry, beside what the entry holds.
type content struct {
	seq, entry                                  int64
	kind                                        string
	there                                       bool
	data, bodyHash, entryHash, body, attributes []byte
}

func (v *verifier) compare(c *content, later *seen) {
	if c.kind == sdk.KindEntryChunk {
		if sum := sha256.Sum256(c.body); c.body != nil && !bytes.Equal(sum[:], c.bodyHash) {
			v.found(c.seq, "the chunk it appended has changed")
		}
		return
	}
	if c.bodyHash != nil && !later.body {
		later.body = true
		sum := sha256.Sum256(c.body)
		if !bytes.Equal(sum[:], c.bodyHash) || !bytes.Equal(c.entryHash, c.bodyHash) {
			v.found(c.seq, "the body it gave its entry has changed")
		}
	}
	if err := compareMembers(c, later); err != nil {
		v.found(c.seq, "the attributes it gave its entry have changed: %v", err)
	}
}

// compareMembers checks the members that no later row wrote. At the row that
// made the entry, every member must have been spoken for.
func compareMembers(c *content, later *seen) error {
	var change sdk.EntryChange
	if err := json.Unmarshal(c.data, &change); err != nil {
		return err
	}
	now, err := parseMembers(c.attributes)
	if err != nil {
		return err
	}
	gave, err := parseMembers(change.Attributes)
	if err != nil {
		return err
	}
	for name, value := range gave {
		if !later.members[name] && !bytes.Equal(now[name], value) && !(now[name] == nil && bytes.Equal(value, null)) {
			return fmt.Errorf("%q is not what was written", name)
		}
		later.members[name] = true
	}
	for name, hash := range change.Hashed {
		if !later.members[name] && hexHash(now[name]) != hash {
			return fmt.Errorf("%q is not what was written", name)
		}
		later.members[name] = true
	}
	if c.seq != c.entry {
		return nil
	}
	for name := range now {
		if !later.members[name] {
			return fmt.Errorf("%q was never written", name)
		}
	}
	return nil
}
