package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/bothyd/bothy/sdk"
)

// auditQuery finds the rows at which actions ended, plugins called tools and
// security events were kept. What an action's call was stands in its entry, and
// in the row that made the entry, should that be gone.
const auditQuery = journalColumns + noBody + `, e.attributes, f.data
	FROM journal j
	LEFT JOIN entries e ON e.id = j.entry AND e.path = j.path
	LEFT JOIN journal f ON f.seq = j.entry AND f.path = j.path
	WHERE j.seq > ?1 AND (j.kind = 'entry.set' AND j.body_hash IS NOT NULL AND j.path GLOB 'log://turn_*' AND instr(j.data, '"phase":"ended"') > 0
		OR j.kind IN ('note.call', 'note.security'))
	AND (?2 = 0 OR j.project = ?2) AND j.time >= ?3`

// AuditRows returns up to limit rows after the seq given that the audit speaks
// of, in order; project and run 0 are all. The Data of an action's row is an
// EntryChange with all attributes that the action has, its call's too.
func (s *Store) AuditRows(ctx context.Context, after int64, limit int, project, run int64, since time.Time) ([]sdk.JournalRow, error) {
	from := int64(0)
	if !since.IsZero() {
		from = since.UnixNano()
	}
	q, args := auditQuery, []any{after, project, from, limit}
	if run != 0 {
		q, args = q+` AND j.run = ?5`, append(args, run)
	}
	var held []auditHeld
	rows, err := list(s.reader(ctx), func(scan scanner) (sdk.JournalRow, error) {
		var h auditHeld
		r, err := scanJournal(func(dest ...any) error { return scan(append(dest, &h.attributes, &h.first)...) })
		held = append(held, h)
		return r, err
	}, q+` ORDER BY j.seq LIMIT ?4`, args...)
	resolver := s.resolver(ctx)
	for i := range rows {
		if err == nil && rows[i].Kind == sdk.KindEntrySet {
			err = held[i].fill(resolver, &rows[i])
		}
	}
	if err != nil {
		return nil, explain("reading the audit", err)
	}
	return rows, nil
}

// auditHeld is what is known of an action beside the row at which it ended.
type auditHeld struct{ attributes, first []byte }

// fill puts all attributes of an action into the row of its end.
func (h auditHeld) fill(resolver *resolver, r *sdk.JournalRow) error {
	var end, first sdk.EntryChange
	if err := json.Unmarshal(r.Data, &end); err != nil {
		return err
	}
	all := h.attributes
	if all == nil { // the entry is gone
		if h.first != nil {
			if err := json.Unmarshal(h.first, &first); err != nil {
				return err
			}
		}
		merged, _, err := mergeAttributes(first.Attributes, end.Attributes)
		if err != nil {
			return err
		}
		all = merged
	}
	filled, err := resolver.fill(r.Run, end.Phase, all)
	if err != nil {
		return err
	}
	end.Attributes = filled
	r.Data, err = encode(end)
	return err
}

// Note keeps a note that belongs to no run and no project, such as a security
// event of the socket.
func (s *Store) Note(ctx context.Context, n sdk.Note) error {
	if s.redactor != nil {
		var err error
		if n, err = s.cleanNote(n); err != nil {
			return err
		}
	}
	return s.update(ctx, "keeping a note", func(t *tx) error { return t.note(&sdk.Run{}, &n) })
}
