package policy

import (
	"encoding/json"
	"path/filepath"
	"slices"

	"github.com/bothyd/bothy/sdk"
)

// reach is what the calls of a tool could touch as things are.
func reach(tool sdk.Tool, arguments json.RawMessage, sandbox sdk.Sandbox, project, runDir string, network bool) sdk.Reach {
	switch {
	case slices.Contains(tool.Grants, sdk.GrantSandbox):
		return sdk.Reach{Digest: tool.Digest, Dir: insideDir(arguments), Mounts: insideMounts(sandbox, project, runDir), Network: network}
	case slices.Contains(tool.Grants, sdk.GrantProject):
		return sdk.Reach{Digest: tool.Digest, Dir: project, Mounts: []string{project + " (read and write)"}}
	}
	return sdk.Reach{Digest: tool.Digest, Dir: project}
}

// insideMounts are what a command in the container has of the host.
func insideMounts(s sdk.Sandbox, project, runDir string) []string {
	work, system := project, "/usr (read): /usr"
	if s.Workspace == sdk.WorkspacePrivate {
		work = filepath.Join(runDir, "workspace")
	}
	if s.Image != "" {
		system = "/ (read): image " + s.Image
	}
	return []string{
		workspace + " (read and write): " + work, home + " (read and write): " + filepath.Join(runDir, "home"),
		skills + " (read): " + filepath.Join(runDir, "skills"), system,
	}
}

// insideDir is where a call's command starts in the container: its argument dir,
// as the sandbox reads it.
func insideDir(arguments json.RawMessage) string {
	var all map[string]any
	if json.Unmarshal(arguments, &all) != nil {
		return workspace
	}
	return place(all).Dir
}
