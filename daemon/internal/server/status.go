package server

import (
	"context"

	"github.com/bothyd/bothy/sdk/rpc"
)

func (s *Server) status(ctx context.Context, _ *conn, _ rpc.Empty) (rpc.Status, error) {
	status, err := s.cfg.Daemon.Status(ctx)
	status.Connections = s.connections()
	return status, err
}

func (s *Server) stop(_ context.Context, _ *conn, p rpc.StopParams) (rpc.Empty, error) {
	s.cfg.Daemon.Stop(p.Now)
	return rpc.Empty{}, nil
}

func (s *Server) showConfig(context.Context, *conn, rpc.Empty) ([]rpc.Setting, error) {
	return orEmpty(s.cfg.Daemon.Settings()), nil
}

func (s *Server) reload(ctx context.Context, _ *conn, _ rpc.Empty) (rpc.Reloaded, error) {
	return s.cfg.Daemon.Reload(ctx)
}

func (s *Server) plugins(context.Context, *conn, rpc.Empty) ([]rpc.Plugin, error) {
	return orEmpty(s.cfg.Daemon.Plugins()), nil
}

// orEmpty makes a missing list an empty one, which JSON writes as [].
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}
