package server

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// entriesBytes is where a page of entries ends; one entry always fits.
const entriesBytes = 4 << 20

func (s *Server) entries(ctx context.Context, run sdk.Run, p rpc.EntriesParams) (rpc.Entries, error) {
	limit, err := page(rpc.MethodEntries, p.Limit, p.Offset)
	if err != nil {
		return rpc.Entries{}, err
	}
	all, err := s.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: run.ID, Pattern: p.Pattern})
	if err != nil {
		return rpc.Entries{}, err
	}
	answer := rpc.Entries{Entries: []sdk.Entry{}}
	size := 0
	for i := min(p.Offset, len(all)); i < len(all); i++ {
		size += len(all[i].Body) + len(all[i].Attributes)
		if len(answer.Entries) == limit || len(answer.Entries) > 0 && size > entriesBytes {
			answer.Next = i
			break
		}
		answer.Entries = append(answer.Entries, all[i])
	}
	return answer, nil
}
