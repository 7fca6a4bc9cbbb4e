package server

import (
	"context"
	"slices"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func (s *Server) status(ctx context.Context, _ *conn, _ rpc.Empty) (rpc.Status, error) {
	status, err := s.cfg.Daemon.Status(ctx)
	status.Connections = s.connections()
	status.Plugins, status.Problems = wholePlugins(status.Plugins), orEmpty(status.Problems)
	status.Skills.Folders = orEmpty(status.Skills.Folders)
	return status, err
}

func (s *Server) stop(_ context.Context, _ *conn, p rpc.StopParams) (rpc.Empty, error) {
	s.stopping.Store(true)
	s.cfg.Daemon.Stop(p.Now)
	return rpc.Empty{}, nil
}

func (s *Server) showConfig(context.Context, *conn, rpc.Empty) ([]rpc.Setting, error) {
	return orEmpty(s.cfg.Daemon.Settings()), nil
}

func (s *Server) mistakes(_ context.Context, _ *conn, p rpc.MistakesParams) (rpc.Mistakes, error) {
	if p.Project != "" {
		if err := absolute(rpc.MethodMistakes, p.Project); err != nil {
			return rpc.Mistakes{}, err
		}
	}
	m := s.cfg.Daemon.Mistakes(p.Project)
	m.Mistakes = orEmpty(m.Mistakes)
	return m, nil
}

func (s *Server) reload(ctx context.Context, _ *conn, _ rpc.Empty) (rpc.Reloaded, error) {
	r := s.cfg.Daemon.ReloadConfig(ctx)
	r.Changes, r.Diagnostics = orEmpty(r.Changes), orEmpty(r.Diagnostics)
	return r, nil
}

func (s *Server) plugins(context.Context, *conn, rpc.Empty) ([]rpc.Plugin, error) {
	return wholePlugins(s.cfg.Daemon.Plugins()), nil
}

func (s *Server) reloadPlugin(ctx context.Context, _ *conn, p rpc.PluginReload) (rpc.PluginReloaded, error) {
	r, err := s.cfg.Daemon.ReloadPlugin(ctx, p)
	r.Diagnostics = orEmpty(r.Diagnostics)
	return r, err
}

// wholePlugins sees to it that each has its lists, though it may never have run.
func wholePlugins(list []rpc.Plugin) []rpc.Plugin {
	list = orEmpty(slices.Clone(list))
	for i := range list {
		list[i].Kinds, list[i].Tools = orEmpty(list[i].Kinds), orEmpty(list[i].Tools)
	}
	return list
}

// orEmpty makes a missing list an empty one, which JSON writes as [].
func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func (s *Server) checkConfig(ctx context.Context, _ *conn, p rpc.ConfigCheck) (rpc.ConfigChecked, error) {
	if p.Project != "" {
		if err := absolute(rpc.MethodCheckConfig, p.Project); err != nil {
			return rpc.ConfigChecked{}, err
		}
		p.Project = sdk.WithoutLinks(p.Project)
	}
	checked := s.cfg.Daemon.CheckConfig(ctx, p)
	checked.Diagnostics = orEmpty(checked.Diagnostics)
	return checked, nil
}
