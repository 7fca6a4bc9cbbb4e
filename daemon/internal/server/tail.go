package server

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// What of the journal's end is kept for watches that are a little behind it.
const (
	tailRows  = 1024
	tailBytes = 2 << 20
)

// tail is the end of the journal, which is read and encoded once for all watches that are up to
// date. Nobody feeds it: the first watch that a commit wakes reads what is new, and the others
// find it there.
type tail struct {
	store Store

	mu   sync.Mutex
	rows []*tailRow // all behind base, up to last, oldest first
	base int64
	last int64
	size int
}

// tailRow is one row, encoded when the first watch sends it.
type tailRow struct {
	sdk.JournalRow
	weight int            // about what it takes
	shown  []sentProposal // that it tells of

	once sync.Once
	text []byte
	err  error
}

func newTailRow(row sdk.JournalRow) *tailRow {
	row = briefRow(row)
	weight := 256 + len(row.Data)
	if row.Body != nil {
		weight += len(*row.Body)
	}
	return &tailRow{JournalRow: row, weight: weight, shown: proposedRow(row)}
}

// encoded is the row as JSON, without secrets.
func (r *tailRow) encoded(redact func(json.RawMessage) json.RawMessage) ([]byte, error) {
	r.once.Do(func() {
		r.text, r.err = json.Marshal(r.JournalRow)
		if r.err == nil && redact != nil {
			r.text = redact(r.text)
		}
	})
	return r.text, r.err
}

// behind are the rows behind a position; false says that the tail does not reach back to it, or is
// too far behind the journal.
func (t *tail) behind(ctx context.Context, after int64) ([]*tailRow, bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	ok, err := t.follow(ctx, after)
	if err != nil || !ok || after < t.base || after > t.last {
		return nil, false, err
	}
	i, _ := slices.BinarySearchFunc(t.rows, after+1, func(r *tailRow, seq int64) int { return cmp.Compare(r.Seq, seq) })
	return t.rows[i:], true, nil
}

// follow reads what is new. When nobody asked for long it begins anew at a position, or is not to
// be followed from there.
func (t *tail) follow(ctx context.Context, after int64) (bool, error) {
	seq := t.store.Seq()
	if seq-t.last > tailRows {
		if seq-after > tailRows {
			return false, nil
		}
		t.rows, t.size, t.base, t.last = nil, 0, after, after
	}
	for t.last < seq {
		rows, err := t.store.Journal(ctx, sdk.JournalQuery{After: t.last, Limit: watchPage, Longest: rowBody})
		if err != nil {
			return false, err
		}
		for _, row := range rows {
			r := newTailRow(row)
			t.rows, t.last, t.size = append(t.rows, r), r.Seq, t.size+r.weight
		}
		if len(rows) < watchPage {
			t.last = max(t.last, seq)
			break
		}
		t.trim()
	}
	t.trim()
	return true, nil
}

// trim forgets the oldest when there is twice of what is kept. Who has them goes on having them.
func (t *tail) trim() {
	if len(t.rows) <= 2*tailRows && t.size <= 2*tailBytes {
		return
	}
	n := 0
	for size := t.size; n < len(t.rows)-1 && (len(t.rows)-n > tailRows || size > tailBytes); n++ {
		size -= t.rows[n].weight
	}
	for _, r := range t.rows[:n] {
		t.size -= r.weight
	}
	if n > 0 {
		t.base, t.rows = t.rows[n-1].Seq, slices.Clone(t.rows[n:])
	}
}
