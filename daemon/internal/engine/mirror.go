package engine

import (
	"context"

	"github.com/bothyd/bothy/sdk"
)

// mirror is a run's entries in memory while a loop runs. It follows the
// journal, so that a turn reads what changed and not what exists, whoever
// changed it.
type mirror struct {
	store   Store
	run     int64
	seq     int64
	entries []sdk.Entry
	index   map[string]int
}

// journalPage is how many rows are read at a time.
const journalPage = 500

// refresh returns the entries as they are now, in the order of their first
// appearance. The slice is the mirror's own: it holds until the next refresh.
func (m *mirror) refresh(ctx context.Context) ([]sdk.Entry, error) {
	if m.index == nil {
		err := m.load(ctx)
		return m.entries, err
	}
	changed, err := m.changes(ctx)
	if err != nil {
		return nil, err
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

func (m *mirror) load(ctx context.Context) error {
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

// changes returns the paths that were written since, each once, in order.
func (m *mirror) changes(ctx context.Context) ([]string, error) {
	var paths []string
	seen := map[string]bool{}
	for {
		rows, err := m.store.Journal(ctx, sdk.JournalQuery{After: m.seq, Limit: journalPage, Run: m.run, Heads: true})
		if err != nil {
			return nil, err
		}
		for i := range rows {
			row := &rows[i]
			m.seq = row.Seq
			if row.Path == "" || row.Kind == sdk.KindEntryChunk || seen[row.Path] {
				continue
			}
			seen[row.Path] = true
			paths = append(paths, row.Path)
		}
		if len(rows) < journalPage {
			return paths, nil
		}
	}
}
