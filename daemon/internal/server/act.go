package server

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func (s *Server) ask(ctx context.Context, c *conn, p rpc.Prompt) (rpc.Accepted, error) {
	return s.submit(ctx, c, true, rpc.MethodAsk, p)
}

func (s *Server) act(ctx context.Context, c *conn, p rpc.Prompt) (rpc.Accepted, error) {
	return s.submit(ctx, c, false, rpc.MethodAct, p)
}

func (s *Server) submit(ctx context.Context, c *conn, readOnly bool, method string, p rpc.Prompt) (rpc.Accepted, error) {
	if err := s.workable(method, p.Project); err != nil {
		return rpc.Accepted{}, err
	}
	if strings.TrimSpace(p.Prompt) == "" && p.Plan == nil {
		return rpc.Accepted{}, wrongParams("the prompt is empty: say what to do")
	}
	if c.grant == nil && c.at(ctx).ID != 0 { // a client of the run specification
		p.Usual = sdk.ModeInteractive
	}
	origin, person, err := c.origin(method, p.From)
	if err != nil {
		return rpc.Accepted{}, err
	}
	p.Usually = person.Agent
	session := ""
	if p.Attend {
		session = c.session
	}
	return s.cfg.Engine.Submit(ctx, session, readOnly, c.allowed().Allows(rpc.RoleApprove), origin, p)
}

func (s *Server) startRun(ctx context.Context, c *conn, p rpc.StartRun) (rpc.Started, error) {
	if err := s.workable(rpc.MethodStartRun, p.Project); err != nil {
		return rpc.Started{}, err
	}
	origin, person, err := c.origin(rpc.MethodStartRun, p.From)
	if err != nil {
		return rpc.Started{}, err
	}
	p.Usually = person.Agent
	return s.cfg.Engine.StartRun(ctx, origin, p)
}

// absolute refuses a project that depends on where the daemon was started.
func absolute(method, project string) error {
	if !filepath.IsAbs(project) || strings.ContainsRune(project, 0) {
		return wrongParams("the project of %s is %q and must be an absolute path", method, project)
	}
	return nil
}

// workable refuses a project in which no run may work: what it runs can reach
// all of the project, so the daemon's socket and tokens must not lie in it.
func (s *Server) workable(method, project string) error {
	if err := absolute(method, project); err != nil {
		return err
	}
	dir, root := sdk.WithoutLinks(filepath.Dir(s.socket)), sdk.WithoutLinks(project)
	if within(dir, root) || within(root, dir) {
		return sdk.Errorf(sdk.Permission, "the daemon's socket is in %s, and no run may reach it: choose a project that holds nothing of it, or set listen.socket to another place", dir)
	}
	return nil
}

// within reports whether path is dir or lies below it.
func within(path, dir string) bool {
	rest, err := filepath.Rel(dir, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, "../")
}
