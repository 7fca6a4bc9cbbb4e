package store

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// digest is a SHA-256.
type digest = [sha256.Size]byte

// position is where the journal stands: the last seq and its row's hash.
type position struct {
	seq  int64
	hash digest
}

// event is a journal row that is not yet written.
type event struct {
	kind    string
	project int64
	run     int64
	loop    int64
	turn    int
	path    string
	data    json.RawMessage // as encode wrote it, or nil
	body    *digest         // of the body that this event gives the entry; nil when it gives none
	entry   int64           // where the body is; not hashed
}

// rowForm is the version of the form that rowHash covers (ADR 0002).
const rowForm = 1

// rowHash is SHA-256 over the hash before it and the row: the form's version,
// then the numbers as 8 bytes each, then kind, path, data and body hash, each
// after its length. All numbers are big-endian.
func rowHash(scratch []byte, prev *digest, seq, unixNano int64, e *event) (digest, []byte) {
	b := append(scratch[:0], prev[:]...)
	b = append(b, rowForm)
	for _, n := range [...]int64{seq, unixNano, e.project, e.run, e.loop, int64(e.turn)} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	b = appendText(b, e.kind)
	b = appendText(b, e.path)
	b = appendText(b, e.data)
	if e.body == nil {
		b = appendText(b, "")
	} else {
		b = appendText(b, e.body[:])
	}
	return sha256.Sum256(b), b
}

func appendText[T string | []byte | json.RawMessage](b []byte, text T) []byte {
	b = binary.BigEndian.AppendUint64(b, uint64(len(text)))
	return append(b, text...)
}

// append writes the event as the next row.
func (t *tx) append(e event) error {
	seq := t.head.seq + 1
	at := t.now.UnixNano()
	hash, scratch := rowHash(t.scratch, &t.head.hash, seq, at, &e)
	t.scratch = scratch
	var body, entry any
	if e.body != nil {
		body = e.body[:]
	}
	if e.entry != 0 {
		entry = e.entry
	}
	err := t.exec(`INSERT INTO journal (seq, time, kind, project, run, loop, turn, path, data, body_hash, entry, prev_hash, hash)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		seq, at, e.kind, e.project, e.run, e.loop, e.turn, e.path, text(e.data), body, entry, t.head.hash[:], hash[:])
	if err != nil {
		return err
	}
	t.head = position{seq: seq, hash: hash}
	return nil
}

// nextID is the seq of the row that comes next, which an entry, a chunk, a loop and
// a turn have as their id: no id is ever used twice, whatever was deleted.
func (t *tx) nextID() int64 { return t.head.seq + 1 }

// record is append for an event whose data is v.
func (t *tx) record(e event, v any) error {
	data, err := encode(v)
	if err != nil {
		return err
	}
	e.data = data
	return t.append(e)
}

// loadHead reads the journal's position from the file.
func (s *Store) loadHead() error {
	t := &tx{s: s}
	var p position
	var hash []byte
	found, err := t.one(`SELECT seq, hash FROM journal ORDER BY seq DESC LIMIT 1`, nil, &p.seq, &hash)
	if err != nil {
		return explain("reading the end of the journal", err)
	}
	if found {
		copy(p.hash[:], hash)
	}
	s.head, s.stale = p, false
	s.seq.Store(p.seq)
	return nil
}

// longestInline is the longest value of an attribute, as JSON, that an entry's
// row keeps itself.
const longestInline = 128

// longestIn is longestInline for an entry of a scope. Nothing of an owner's stays in the journal when it is removed: what somebody has
// forgotten is no shorter for that.
func longestIn(scope string) int {
	if strings.HasPrefix(scope, ownerScope("")) {
		return 0
	}
	return longestInline
}

// describeAttributes puts changed members into a row's data: those of up to longest bytes as they
// are, and that one is gone, longer ones by their hash.
func describeAttributes(c *sdk.EntryChange, changed members, longest int) error {
	short := members{}
	for name, value := range changed {
		if (len(value) <= longest && !hashedAlways(name, changed)) || string(value) == string(null) {
			short[name] = value
			continue
		}
		if c.Hashed == nil {
			c.Hashed = map[string]string{}
		}
		c.Hashed[name] = hexHash(value)
	}
	var err error
	c.Attributes, err = encodeMembers(short)
	return err
}

// hashedAlways reports whether the row keeps a value by its hash alone, however short it is: what a model called tools with, which may
// be what is remembered of somebody.
func hashedAlways(name string, changed members) bool {
	return name == "calls" || name == "arguments" && string(changed["keeps"]) == "true"
}

func hexHash(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}
