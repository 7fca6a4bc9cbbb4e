package daemon

import (
	"path/filepath"

	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/host"
	"github.com/bothyd/bothy/daemon/internal/known"
	"github.com/bothyd/bothy/sdk"
)

// hosted are the plugins as calls are made of them: with what is known of the tools that
// servers of MCP pass on.
type hosted struct {
	*host.Supervisor
	*known.Servers
	current func() *config.Config
}

// Tools implements engine.Tools.
func (h hosted) Tools() []sdk.Tool { return h.Judge(h.current(), h.Supervisor.Tools()) }

// serverProblem is what problems are about when a server of MCP is not what it was.
type serverProblem string

// knownServers begins with what earlier daemons saw. What drifted is told once.
func (d *Daemon) knownServers() *known.Servers {
	return known.Open(known.Options{
		Path: filepath.Join(d.paths.Data, known.FileName), Log: d.log.Named("mcp"), Redact: d.secrets.Redact,
		Tell: func(instance, text string) {
			var now []problem
			if text != "" {
				now = []problem{{text: text}}
			}
			for _, text := range d.problems.replace(serverProblem(instance), now) {
				d.log.Warn(text)
			}
		},
	})
}
