package daemon

import (
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/daemon/internal/engine"
	"github.com/bothyd/bothy/sdk"
)

// wall says what the calls of tools could touch, as it is now: an answer to a
// proposal is bound to that.
type wall struct{ openings }

var _ engine.Wall = wall{}

// Network implements engine.Wall.
func (w wall) Network(project string) bool { return w.Open(project) }

// Reach implements engine.Wall.
func (w wall) Reach(tool sdk.Tool, project, runDir string) engine.Reach {
	switch {
	case slices.Contains(tool.Grants, sdk.GrantSandbox):
		work := project
		if w.d.current().Sandbox.Workspace == "private" {
			work = filepath.Join(runDir, "workspace")
		}
		return engine.Reach{
			Digest: tool.Digest, Dir: "/workspace",
			Mounts: []string{
				"/workspace (read and write): " + work, "/home/bothy (read and write): " + filepath.Join(runDir, "home"), "/usr (read): /usr",
			},
			Network: w.Open(project),
		}
	case slices.Contains(tool.Grants, sdk.GrantProject):
		return engine.Reach{Digest: tool.Digest, Dir: project, Mounts: []string{project + " (read and write)"}}
	}
	return engine.Reach{Digest: tool.Digest, Dir: project}
}
