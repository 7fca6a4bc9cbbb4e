package server

import (
	"context"

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
