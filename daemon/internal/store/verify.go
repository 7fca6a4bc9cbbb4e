package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// Verify recomputes the journal's hash chain over the last rows (0 is all), and
// compares what those rows gave to entries with what the entries hold. What is
// wrong comes as a *sdk.JournalDamage that names the first bad row. It is no seal
// against the owner of the file, who can compute a new chain.
func (s *Store) Verify(ctx context.Context, last int) error {
	err := s.borrow(ctx, func(conn *sql.Conn) error { return verifyJournal(ctx, conn, s.path, last) })
	return explain("verifying the journal", err)
}

// verifyJournal verifies on a connection of any kind.
func verifyJournal(ctx context.Context, conn *sql.Conn, path string, last int) error {
	v := verifier{last: int64(last), entries: map[int64]*seen{}}
	query := verifyQuery
	var knows bool
	err := conn.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM pragma_table_info('entries') WHERE name = 'answer')`).Scan(&knows)
	if err != nil {
		return explain("verifying the journal", err)
	}
	if !knows { // a file of an older schema
		query = strings.Replace(query, bodyOf, `e.body`, 1)
	}
	rows, err := conn.QueryContext(ctx, query, last)
	if err := eachRow(rows, err, v.row); err != nil {
		return explain("verifying the journal", err)
	}
	if bottom := max(1, v.lowest-1); v.after.seq > bottom {
		v.found(bottom, "the row is missing")
	}
	if v.damage == nil {
		return nil
	}
	return sdk.Errorf(sdk.Internal, "%s: %w; keep a copy of the file with its -wal file, then restore a backup", path, v.damage)
}

// verifyQuery reads the last rows, newest first, each beside what its entry holds,
// and the row before them, whose hash they follow from. One statement is one
// snapshot.
const verifyQuery = `SELECT j.seq, j.time, j.kind, j.project, j.run, j.loop, j.turn, j.path, j.data, j.body_hash, j.prev_hash, j.hash,
	coalesce(j.entry, 0), e.id IS NOT NULL, e.hash,
	CASE WHEN j.body_hash IS NULL THEN NULL WHEN j.kind = 'entry.chunk' THEN c.text ELSE ` + bodyOf + ` END, e.attributes
	FROM journal j LEFT JOIN entries e ON e.id = j.entry LEFT JOIN chunks c ON c.seq = j.seq
	WHERE j.seq >= CASE ?1 WHEN 0 THEN 0 ELSE (SELECT max(seq) FROM journal) - ?1 END ORDER BY j.seq DESC`

// verifier takes the rows from the newest to the oldest.
type verifier struct {
	last, lowest int64   // how many rows, 0 is all; the seq of the first of them
	after        content // the row that came before in this order; of no seq at first
	entries      map[int64]*seen
	scratch      []byte
	damage       *sdk.JournalDamage // the first in the order of seq
}

// seen is what later rows have said about an entry.
type seen struct {
	body    bool
	members map[string]bool
}

// content is a row beside what the entry holds that it gave something to.
type content struct {
	event
	seq, at                     int64
	there                       bool
	bodyHash, prev, hash        []byte
	entryHash, text, attributes []byte
}

// found keeps the damage that comes first.
func (v *verifier) found(seq int64, format string, args ...any) {
	if v.damage == nil || seq < v.damage.Seq {
		v.damage = &sdk.JournalDamage{Seq: seq, What: fmt.Sprintf(format, args...)}
	}
}

func (v *verifier) row(scan scanner) error {
	var c content
	err := scan(&c.seq, &c.at, &c.kind, &c.project, &c.run, &c.loop, &c.turn, &c.path, (*[]byte)(&c.data), &c.bodyHash, &c.prev, &c.hash,
		&c.entry, &c.there, &c.entryHash, &c.text, &c.attributes)
	if err != nil {
		return err
	}
	switch {
	case v.after.seq == 0:
		v.lowest = 1
		if v.last > 0 {
			v.lowest = max(1, c.seq-v.last+1)
		}
	case v.after.seq != c.seq+1:
		v.found(c.seq+1, "the row is missing")
	case !bytes.Equal(v.after.prev, c.hash):
		v.found(v.after.seq, "it does not follow from the row before it")
	}
	v.after = c
	if c.seq >= v.lowest {
		v.chain(&c)
		v.contents(&c)
	}
	return nil
}

// chain recomputes the hash of a row from the one that it says it follows.
func (v *verifier) chain(c *content) {
	var prev, hash digest
	copy(prev[:], c.prev)
	if len(c.bodyHash) == sha256.Size {
		c.event.body = (*digest)(c.bodyHash)
	}
	hash, v.scratch = rowHash(v.scratch, &prev, c.seq, c.at, &c.event)
	switch {
	case !bytes.Equal(hash[:], c.hash):
		v.found(c.seq, "its content and its hash do not agree")
	case c.seq == 1 && prev != digest{}:
		v.found(c.seq, "it does not follow from the row before it")
	}
}

// contents compares an entry with a row that gave it what it holds: the newest row
// to speak of a body or a member is the one that counts.
func (v *verifier) contents(c *content) {
	if !c.there {
		return
	}
	later := v.entries[c.entry]
	if later == nil {
		later = &seen{members: map[string]bool{}}
		v.entries[c.entry] = later
	}
	if c.kind == sdk.KindEntryChunk {
		if sum := sha256.Sum256(c.text); c.text != nil && !bytes.Equal(sum[:], c.bodyHash) {
			v.found(c.seq, "the chunk it appended has changed")
		}
		return
	}
	if c.bodyHash != nil && !later.body {
		later.body = true
		sum := sha256.Sum256(c.text)
		if letGo := sdk.SchemeOf(c.path) == fileScheme && len(c.text) == 0 && bytes.Equal(sum[:], c.entryHash); letGo {
			// no run has the text in sight any more
		} else if !bytes.Equal(sum[:], c.bodyHash) || !bytes.Equal(c.entryHash, c.bodyHash) {
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
