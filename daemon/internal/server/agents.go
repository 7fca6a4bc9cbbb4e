package server

import (
	"context"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func (s *Server) agents(_ context.Context, c *conn, p rpc.AgentsParams) (rpc.Agents, error) {
	project, err := maybeProject(rpc.MethodAgents, p.Project)
	if err != nil {
		return rpc.Agents{}, err
	}
	if c.grant != nil { // whose runs have no agents of the project's files
		all := s.cfg.Engine.Agents("", false)
		for i := range all {
			all[i].Place = "" // a path of this machine
		}
		return rpc.Agents{Agents: orEmpty(all)}, nil
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
