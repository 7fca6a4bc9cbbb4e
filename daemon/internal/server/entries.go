package server

import (
	"context"
	"slices"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/match"
	"github.com/bothyd/bothy/sdk/rpc"
)

const (
	entriesBytes  = 4 << 20         // where a page of entries ends; one entry always fits
	entriesBatch  = 16              // so many are read whole at a time
	entriesLooked = 64 << 20        // bytes of bodies that one page looks through for a filter
	entriesTime   = 2 * time.Second // and for how long, but one body in any case
)

func (s *Server) entries(ctx context.Context, c *conn, p rpc.EntriesParams) (rpc.Entries, error) {
	run, err := s.findOrNewest(ctx, p.Run, p.Project)
	if err != nil {
		return rpc.Entries{}, err
	}
	if err := c.reachesOwners(rpc.MethodEntries, run, p.Pattern); err != nil {
		return rpc.Entries{}, err
	}
	if s.cfg.Packets.Names(p.Pattern) {
		return s.renderedEntry(ctx, run, p)
	}
	limit, err := page(rpc.MethodEntries, p.Limit, p.Offset)
	if err != nil {
		return rpc.Entries{}, err
	}
	filter, err := match.Parse(p.Body)
	if err != nil {
		return rpc.Entries{}, err
	}
	all, err := s.cfg.Store.Entries(ctx, sdk.EntryQuery{Run: run.ID, Pattern: p.Pattern, Shared: true, Brief: true})
	if err != nil {
		return rpc.Entries{}, err
	}
	if !c.seesOwners(run) {
		all = slices.DeleteFunc(all, func(e sdk.Entry) bool { return s.ownerScheme(e.Path) })
	}
	all = all[min(p.Offset, len(all)):]
	shown, size, looked, begun := []sdk.Entry{}, 0, 0, time.Now()
	upTo := func(n int) (rpc.Entries, error) { // a page that ends before the entry n
		answer := rpc.Entries{Entries: shown}
		if n < len(all) {
			answer.Next = p.Offset + n
		}
		return answer, nil
	}
	for i, e := range all {
		if i%entriesBatch == 0 && (p.Body != "" || !p.Brief) {
			if err := s.fillIn(ctx, run.ID, all[i:min(i+entriesBatch, len(all))]); err != nil {
				return rpc.Entries{}, err
			}
			e = all[i]
		}
		if p.Body != "" {
			if looked > entriesLooked || i > 0 && time.Since(begun) > entriesTime {
				return upTo(i)
			}
			looked += len(e.Body)
			has, err := filter.Search(e.Body)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return rpc.Entries{}, err
			}
			if all[i] = (sdk.Entry{}); !has { // it is needed no more
				continue
			}
		}
		if p.Brief {
			e.Body = ""
		}
		size += len(e.Body) + len(e.Attributes)
		if len(shown) == limit || len(shown) > 0 && size > entriesBytes {
			return upTo(i)
		}
		shown = append(shown, e)
	}
	return upTo(len(all))
}

// fillIn reads entries whole that were listed. One that has gone meanwhile stays as it was listed.
func (s *Server) fillIn(ctx context.Context, run int64, listed []sdk.Entry) error {
	q := sdk.EntryQuery{Run: run, Shared: true, Paths: make([]string, len(listed))}
	at := make(map[string]int, len(listed))
	for i, e := range listed {
		q.Paths[i], at[e.Path] = e.Path, i
	}
	whole, err := s.cfg.Store.Entries(ctx, q)
	for _, e := range whole {
		if i, wanted := at[e.Path]; wanted {
			listed[i] = e
		}
	}
	return err
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
