package server

import (
	"context"
	"encoding/json"
	"slices"
	"sync"

	"github.com/bothyd/bothy/sdk"
)

// children are the runs below one that a watch shows with it. They grow as the journal is read: a run is among
// them from the row on that made it. Nil has none.
type children struct{ ids sync.Map }

// childrenOf are those that there are. It is read behind the position of the journal from which they are followed.
func (s *Server) childrenOf(ctx context.Context, run int64) (*children, error) {
	all, err := s.cfg.Store.Runs(ctx, sdk.RunFilter{Below: run, Hidden: true})
	found := &children{}
	for _, r := range all {
		found.ids.Store(r.ID, true)
	}
	return found, err
}

func (c *children) has(run int64) bool {
	if c == nil {
		return false
	}
	_, ok := c.ids.Load(run)
	return ok
}

// follow takes in a row that may have made one more, of a run or of one that is below it.
func (c *children) follow(of int64, row sdk.JournalRow) {
	if c == nil || row.Kind != sdk.KindRunCreated {
		return
	}
	var made struct{ Delegator int64 }
	if json.Unmarshal(row.Data, &made) == nil && made.Delegator != 0 && (made.Delegator == of || c.has(made.Delegator)) {
		c.ids.Store(row.Run, true)
	}
}

// below reports whether the work of a run was delegated by another, at whatever depth.
func (s *Server) below(run, top int64) bool {
	chain, err := s.cfg.Store.Delegators(context.Background(), run)
	return err == nil && slices.ContainsFunc(chain, func(r sdk.Run) bool { return r.ID == top })
}
