package sent

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/bothyd/bothy/sdk"
)

// Journal is what Since reads.
type Journal interface {
	Journal(ctx context.Context, q sdk.JournalQuery) ([]sdk.JournalRow, error)
}

// Since are the paths of a run whose entries were written since the model of its last turn was asked, so that it was told nothing
// of that; how much of an entry is in sight is no part of it. They are the same after a restart.
func Since(ctx context.Context, store Journal, run int64) (map[string]bool, error) {
	rows, err := store.Journal(ctx, sdk.JournalQuery{Run: run, Kinds: []string{sdk.KindNoteSent}, Newest: true, Limit: 1, Heads: true})
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, sdk.Errorf(sdk.NotFound, "nothing is kept of what the model was sent; ask for the summary again")
	}
	var s sdk.Sent
	if err := json.Unmarshal(rows[0].Data, &s); err != nil {
		return nil, fmt.Errorf("read row %d of the journal: %w", rows[0].Seq, err)
	}
	paths := map[string]bool{}
	for after := s.Seq; ; {
		rows, err := store.Journal(ctx, sdk.JournalQuery{Run: run, After: after, Limit: page, Heads: true})
		if err != nil {
			return nil, err
		}
		for i := range rows {
			var c sdk.EntryChange
			if row := &rows[i]; row.Path != "" && (row.Kind != sdk.KindEntrySet || json.Unmarshal(row.Data, &c) != nil || !c.Look) {
				paths[row.Path] = true
			}
			after = rows[i].Seq
		}
		if len(rows) < page {
			return paths, nil
		}
	}
}

// page is how many rows are read at a time.
const page = 500
