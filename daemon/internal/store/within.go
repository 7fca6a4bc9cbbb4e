package store

import (
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// bodyOf is the body of an entry e, wherever it stands: what a model wrote as tags into an entry is a part of its answer, and is
// not stored again. Everything that reads a body reads this.
const bodyOf = `CASE WHEN e.answer IS NULL THEN e.body
	ELSE (SELECT CAST(substr(CAST(a.body AS BLOB), e.starts, e.bytes) AS TEXT) FROM entries a WHERE a.id = e.answer) END`

// bytesOf is how many bytes that has.
const bytesOf = `coalesce(e.bytes, octet_length(e.body))`

// A body of some bytes is worth it. To read one takes a reading of its answer, which is so many times as long at the most: what a
// run has written is read in a time that grows with it.
const (
	shortestWithin = 512
	timesAsLong    = 16
)

// stored is how an entry's body is stored: as it is, or as a place in the body of an answer.
type stored struct {
	body                  string
	answer, starts, bytes any // NULL, or all of them
}

// storedBody finds the body of an entry that a model wrote in the answer of the turn. What is shared is found in none: it outlives
// the run.
func (t *tx) storedBody(x *visibleEntry, scope string) (stored, error) {
	own := stored{body: x.Body}
	if x.Writer != sdk.WriterModel || x.Turn == 0 || len(x.Body) < shortestWithin || !strings.HasPrefix(scope, "run:") {
		return own, nil
	}
	var id int64
	var text string
	found, err := t.one(`SELECT id, body FROM entries WHERE scope = ? AND path = ? AND octet_length(body) <= ?`,
		[]any{scope, sdk.ReplyPath(x.Turn), timesAsLong * len(x.Body)}, &id, &text)
	if err != nil || !found || id == x.entry {
		return own, err
	}
	if i := strings.Index(text, x.Body); i >= 0 {
		return stored{"", id, i + 1, len(x.Body)}, nil
	}
	return own, nil
}
