package server

import (
	"context"
	"path/filepath"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// devPlugin lasts as long as the plugin's process, or the connection.
func (s *Server) devPlugin(ctx context.Context, c *conn, p rpc.PluginDev) (rpc.PluginDetached, error) {
	switch {
	case p.Instance == "" || p.PID <= 0:
		return rpc.PluginDetached{}, wrongParams("%s needs the name of an instance and the id of a process", rpc.MethodPluginDev)
	case !filepath.IsAbs(p.Path) || !filepath.IsAbs(p.Address):
		return rpc.PluginDetached{}, wrongParams("%s needs absolute paths of the binary and of its socket", rpc.MethodPluginDev)
	}
	if s.cfg.Descended != nil && s.cfg.Descended(p.PID) {
		return rpc.PluginDetached{}, sdk.Errorf(sdk.Permission, "process %d descends from a plugin: it cannot be attached", p.PID)
	}
	return s.cfg.Daemon.DevPlugin(ctx, p, func(a rpc.PluginAttached) { c.out.note(rpc.NoteAttached, a, nil) })
}
