// Package mirror keeps the entries of a run in memory while something works on it.
package mirror

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// Store is what a mirror follows.
type Store interface {
	Seq() int64
	Entry(ctx context.Context, run int64, path string) (sdk.Entry, error)
	Entries(ctx context.Context, q sdk.EntryQuery) ([]sdk.Entry, error)
	Journal(ctx context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error)
}

// Mirror is a run's entries in memory while a loop runs. It follows the
// journal, so that a turn reads what changed and not what exists, whoever
// changed it.
type Mirror struct {
	store   Store
	run     int64
	seq     int64
	entries []sdk.Entry
	index   map[string]int
}

// Of is the mirror of a run, which has read nothing yet.
func Of(s Store, run int64) *Mirror { return &Mirror{store: s, run: run} }

// Entries are those that the last refresh read. Nobody may change them.
func (m *Mirror) Entries() []sdk.Entry { return m.entries }

// Seq is how far the last refresh read the journal: Entries are what the run had then, and perhaps some that came since.
func (m *Mirror) Seq() int64 { return m.seq }

// Find is one of Entries, by its path; false is that it is not there.
func (m *Mirror) Find(path string) (sdk.Entry, bool) {
	i, is := m.index[path]
	if !is {
		return sdk.Entry{}, false
	}
	return m.entries[i], true
}

// journalPage is how many rows are read at a time.
const journalPage = 500

// Refresh returns the entries as they are now, in the order of their first
// appearance. The slice is the mirror's own: it holds until the next refresh.
func (m *Mirror) Refresh(ctx context.Context) ([]sdk.Entry, error) {
	if m.index == nil {
		err := m.load(ctx)
		return m.entries, err
	}
	changed, removed, err := m.changes(ctx)
	switch {
	case err != nil:
		return nil, err
	case removed: // what was written again since stands at another place
		err := m.load(ctx)
		return m.entries, err
	}
	for _, path := range changed {
		entry, err := m.store.Entry(ctx, m.run, path)
		switch i, known := m.index[path]; {
		case err != nil && sdk.OutcomeOf(err) == sdk.NotFound:
			if known {
				err := m.load(ctx)
				return m.entries, err
			}
		case err != nil:
			return nil, err
		case known:
			m.entries[i] = entry
		default:
			m.index[path] = len(m.entries)
			m.entries = append(m.entries, entry)
		}
	}
	return m.entries, nil
}

func (m *Mirror) load(ctx context.Context) error {
	seq := m.store.Seq() // first: what is committed in between is read again
	entries, err := m.store.Entries(ctx, sdk.EntryQuery{Run: m.run})
	if err != nil {
		return err
	}
	m.seq, m.entries, m.index = seq, entries, make(map[string]int, len(entries))
	for i := range entries {
		m.index[entries[i].Path] = i
	}
	return nil
}

// changes returns the paths that were written since, each once, in order, and whether one was removed.
func (m *Mirror) changes(ctx context.Context) (paths []string, removed bool, err error) {
	seen := map[string]bool{}
	for {
		rows, err := m.store.Journal(ctx, sdk.JournalQuery{After: m.seq, Limit: journalPage, Run: m.run, Heads: true})
		if err != nil {
			return nil, false, err
		}
		for i := range rows {
			row := &rows[i]
			m.seq = row.Seq
			removed = removed || row.Kind == sdk.KindEntryRemoved
			if row.Path == "" || row.Kind == sdk.KindEntryChunk || seen[row.Path] {
				continue
			}
			seen[row.Path] = true
			paths = append(paths, row.Path)
		}
		if len(rows) < journalPage {
			return paths, removed, nil
		}
	}
}
