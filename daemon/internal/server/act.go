package server

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func (s *Server) ask(ctx context.Context, c *conn, p rpc.Prompt) (rpc.Accepted, error) {
	return s.submit(ctx, c, sdk.ModeAsk, rpc.MethodAsk, p)
}

func (s *Server) act(ctx context.Context, c *conn, p rpc.Prompt) (rpc.Accepted, error) {
	return s.submit(ctx, c, sdk.ModeAct, rpc.MethodAct, p)
}

func (s *Server) submit(ctx context.Context, c *conn, mode sdk.Mode, method string, p rpc.Prompt) (rpc.Accepted, error) {
	if err := absolute(method, p.Project); err != nil {
		return rpc.Accepted{}, err
	}
	if strings.TrimSpace(p.Prompt) == "" {
		return rpc.Accepted{}, wrongParams("the prompt is empty: say what to do")
	}
	return s.cfg.Engine.Submit(ctx, c.caller(), mode, p)
}

func (s *Server) startRun(ctx context.Context, _ *conn, p rpc.StartRun) (rpc.Started, error) {
	if err := absolute(rpc.MethodStartRun, p.Project); err != nil {
		return rpc.Started{}, err
	}
	return s.cfg.Engine.StartRun(ctx, p)
}

// absolute refuses a project that depends on where the daemon was started.
func absolute(method, project string) error {
	if !filepath.IsAbs(project) || strings.ContainsRune(project, 0) {
		return wrongParams("the project of %s is %q and must be an absolute path", method, project)
	}
	return nil
}
