package server

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func (s *Server) agents(_ context.Context, _ *conn, p rpc.AgentsParams) (rpc.Agents, error) {
	project, err := maybeProject(rpc.MethodAgents, p.Project)
	if err != nil {
		return rpc.Agents{}, err
	}
	return rpc.Agents{Agents: orEmpty(s.cfg.Engine.Agents(project, p.Untrusted))}, nil
}

func (s *Server) agent(_ context.Context, _ *conn, p rpc.AgentParams) (rpc.AgentDetail, error) {
	project, err := maybeProject(rpc.MethodAgent, p.Project)
	if err != nil {
		return rpc.AgentDetail{}, err
	}
	return s.cfg.Engine.Agent(project, p.Name)
}

// maybeProject is the root of a project that may be left out.
func maybeProject(method, project string) (string, error) {
	if project == "" {
		return "", nil
	}
	return sdk.WithoutLinks(project), absolute(method, project)
}
