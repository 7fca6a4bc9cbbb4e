package server

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// Files tells of the files that a project has, under the rules for secrets.
type Files interface {
	Find(ctx context.Context, p rpc.FilesParams) (rpc.Files, error)
	Read(ctx context.Context, p rpc.FileParams) (rpc.FileText, error)
}

func (s *Server) files(ctx context.Context, _ *conn, p rpc.FilesParams) (rpc.Files, error) {
	if err := s.workable(rpc.MethodFiles, p.Project); err != nil {
		return rpc.Files{}, err
	}
	limit, err := page(rpc.MethodFiles, p.Limit, 0)
	if err != nil {
		return rpc.Files{}, err
	}
	p.Limit = limit
	return s.cfg.Files.Find(ctx, p)
}

func (s *Server) file(ctx context.Context, _ *conn, p rpc.FileParams) (rpc.FileText, error) {
	if err := s.workable(rpc.MethodFile, p.Project); err != nil {
		return rpc.FileText{}, err
	}
	return s.cfg.Files.Read(ctx, p)
}

func (s *Server) agents(_ context.Context, _ *conn, p rpc.AgentsParams) (rpc.Agents, error) {
	if p.Project != "" {
		if err := absolute(rpc.MethodAgents, p.Project); err != nil {
			return rpc.Agents{}, err
		}
		p.Project = sdk.WithoutLinks(p.Project)
	}
	return rpc.Agents{Agents: orEmpty(s.cfg.Engine.Agents(p.Project))}, nil
}
