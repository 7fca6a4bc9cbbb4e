package server

import (
	"context"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func (s *Server) models(ctx context.Context, _ *conn, p rpc.ModelsParams) (rpc.Models, error) {
	if p.Limit < 0 || p.Offset < 0 {
		return rpc.Models{}, wrongParams("limit and offset of %s are not negative", rpc.MethodModels)
	}
	found := s.cfg.Models.List(ctx)
	found.Models = orEmpty(found.Models[min(p.Offset, len(found.Models)):])
	found.Problems = orEmpty(found.Problems)
	if p.Limit > 0 {
		found.Models = found.Models[:min(p.Limit, len(found.Models))]
	}
	return found, nil
}

func (s *Server) addModel(ctx context.Context, _ *conn, p rpc.ModelAdd) (rpc.ModelAdded, error) {
	return s.cfg.Models.Add(ctx, p)
}

func (s *Server) removeModel(ctx context.Context, _ *conn, p rpc.ModelRef) (rpc.ModelRemoved, error) {
	return s.cfg.Models.Remove(ctx, p)
}

// pull answers when the model can be used.
func (s *Server) pull(ctx context.Context, c *conn, p rpc.Pull) (rpc.Pulled, error) {
	if p.Model == "" || strings.ContainsFunc(p.Model, unicode.IsControl) {
		return rpc.Pulled{}, wrongParams("%s needs the name of a model", rpc.MethodPull)
	}
	var waiting atomic.Bool // one line: a client that reads slowly misses some
	alias, err := s.cfg.Models.Pull(ctx, p.Model, func(at sdk.PullProgress) {
		if !waiting.Swap(true) {
			c.out.note(rpc.NotePull, at, func() { waiting.Store(false) })
		}
	})
	return rpc.Pulled{Model: alias}, err
}
