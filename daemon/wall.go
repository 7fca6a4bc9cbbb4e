package daemon

import (
	"context"
	"slices"
	"time"

	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/sdk"
)

// wall tells what calls could touch, for those who are asked about them.
type wall struct{ d *Daemon }

var _ engine.Wall = wall{}

// digestTime bounds how long a plugin's binary is read.
const digestTime = 10 * time.Second

// Reach implements engine.Wall.
func (w wall) Reach(tool sdk.Tool, project, runDir string) engine.Reach {
	ctx, cancel := context.WithTimeout(w.d.stopping, digestTime)
	defer cancel()
	r := engine.Reach{Digest: w.d.host.Digest(ctx, tool), Dir: project, Network: w.Network(project)}
	switch {
	case slices.Contains(tool.Grants, sdk.GrantSandbox):
		r.Dir = "/workspace"
		what := "/workspace (read and write): " + project
		if w.d.current().Sandbox.Workspace == "private" {
			what = "/workspace (read and write): a folder of this run alone"
		}
		r.Mounts = []string{what, "the run's home (read and write)", "/usr (read only): this machine's"}
	case slices.Contains(tool.Grants, sdk.GrantProject):
		r.Mounts = []string{project + " (read and write)"}
		r.Network = false
	default:
		r.Network = false
	}
	return r
}

// Network implements engine.Wall.
func (w wall) Network(project string) bool { return w.d.rules.network(project) }
