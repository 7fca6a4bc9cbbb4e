package server

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// entriesBytes is where a page of entries ends; one entry always fits.
const entriesBytes = 4 << 20

func (s *Server) entries(ctx context.Context, _ *conn, p rpc.EntriesParams) (rpc.Entries, error) {
	run, err := s.findOrNewest(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.Entries{}, err
	}
	limit, err := page(rpc.MethodEntries, p.Limit, p.Offset)
	if err != nil {
		return rpc.Entries{}, err
	}
	all, err := s.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: run.ID, Pattern: p.Pattern, Shared: true, Brief: p.Brief})
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

// findOrNewest is find, and where no run is named the newest of the project, of all when none is
// named either.
func (s *Server) findOrNewest(ctx context.Context, run, project string) (sdk.Run, error) {
	if run != "" {
		return s.find(ctx, run, project)
	}
	f := sdk.RunFilter{Limit: 1}
	if project != "" {
		p, known, err := s.project(ctx, project)
		switch {
		case err != nil:
			return sdk.Run{}, err
		case !known:
			return sdk.Run{}, sdk.Errorf(sdk.NotFound, "%s has no runs yet", project)
		}
		f.Project = p.ID
	}
	newest, err := s.cfg.Store.Runs(ctx, f)
	switch {
	case err != nil:
		return sdk.Run{}, err
	case len(newest) == 0:
		return sdk.Run{}, sdk.Errorf(sdk.NotFound, "there are no runs yet")
	}
	return newest[0], nil
}
