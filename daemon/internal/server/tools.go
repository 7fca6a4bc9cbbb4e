package server

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

func (s *Server) tools(_ context.Context, _ *conn, p rpc.ToolsParams) ([]sdk.Tool, error) {
	all := slices.DeleteFunc(slices.Clone(s.cfg.Daemon.Tools()), func(t sdk.Tool) bool {
		return t.Unlisted || t.People != p.People || sdk.IsLent(strings.TrimPrefix(t.Plugin, sdk.MCPPrefix))
	})
	return orEmpty(all), nil
}

// callTool waits for the tool. The context ends with the connection, which is
// how a client cancels.
func (s *Server) callTool(ctx context.Context, c *conn, p rpc.ToolCall) (rpc.ToolDone, error) {
	if err := s.workable(rpc.MethodCallTool, p.Project); err != nil {
		return rpc.ToolDone{}, err
	}
	if p.Tool == "" {
		return rpc.ToolDone{}, wrongParams("the tool's name is empty: `bothy tools list` shows what there is")
	}
	if p.Join && p.Run == "" {
		return rpc.ToolDone{}, wrongParams("a call joins a run, so %s with join names the run", rpc.MethodCallTool)
	}
	if len(p.Arguments) == 0 || string(p.Arguments) == "null" {
		p.Arguments = json.RawMessage("{}")
	}
	if p.Arguments[0] != '{' {
		return rpc.ToolDone{}, wrongParams("the arguments of %s are a JSON object", p.Tool)
	}
	origin, _, err := c.origin(rpc.MethodCallTool, p.From)
	if err != nil {
		return rpc.ToolDone{}, err
	}
	return s.cfg.Engine.CallTool(ctx, c.allowed().Allows(rpc.RoleApprove), origin, p)
}

func (s *Server) cancelCall(ctx context.Context, run sdk.Run, p rpc.ToolCancel) (rpc.ToolCancelled, error) {
	ended, err := s.cfg.Engine.CancelCall(ctx, run.ID, p.Action)
	return rpc.ToolCancelled{Run: run.Alias, ID: run.ID, Actions: orEmpty(ended)}, err
}
