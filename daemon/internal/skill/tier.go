package skill

import (
	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/sdk"
)

// Settings say where skills are looked for, and which of them are switched.
type Settings struct {
	Folders   []Folder                // bundled and user, the one that goes first before the others
	Workspace []string                // where in a workspace, such as ".bothy/skills", in the same order; none turns the tier off
	Enabled   func(name string) *bool // what a skill block says; nil says nothing, and so does a nil function

	// Offered is the folder of a project's skills that its agents found elsewhere: of its workspace tier too, after the
	// others. A nil function is none.
	Offered func(project string) string
}

// Folder is one folder in which skills are looked for.
type Folder = places.Folder

// workspaceFolders are those of a project.
func workspaceFolders(project, home string, s Settings) []Folder {
	folders := places.Workspace(project, home, s.Workspace, s.Folders)
	if s.Offered != nil && len(s.Workspace) > 0 {
		at := s.Offered(project)
		folders = append(folders, Folder{Tier: sdk.TierWorkspace, Path: at, Bound: at})
	}
	return folders
}
