package skill

import (
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/sdk"
)

// Settings say where skills are looked for, and which of them are switched.
type Settings struct {
	Folders   []Folder                // bundled and user, the one that goes first before the others
	Workspace []string                // where in a workspace, such as ".bothy/skills", in the same order; none turns the tier off
	Enabled   func(name string) *bool // what a skill block says; nil says nothing, and so does a nil function
}

// Folder is one folder in which skills are looked for.
type Folder struct {
	Tier  sdk.SkillTier
	Path  string   // absolute; it need not be there
	Allow []string // where symbolic links may lead, beside Path itself
	Bound string   // when not empty, Path itself must not lead out of it
}

// workspaceFolders are those of a project, the nearest first, up to the root of
// its repository. What lies above the home directory belongs to no project, and
// neither does that itself. A folder that counts for all projects, as those of
// a home that is the project do, is not one of a workspace too.
func workspaceFolders(project, home string, s Settings) []Folder {
	levels := upToRepository(project, home)
	bound := levels[len(levels)-1]
	shared := map[string]bool{}
	for _, f := range s.Folders {
		shared[sdk.WithoutLinks(f.Path)] = true
	}
	var out []Folder
	for _, level := range levels {
		for _, name := range s.Workspace {
			path := filepath.Join(level, filepath.FromSlash(name))
			real := sdk.WithoutLinks(path)
			if _, inside := below(sdk.WithoutLinks(bound), real); !inside || !shared[real] { // a link out is shown as what it is
				out = append(out, Folder{Tier: sdk.TierWorkspace, Path: path, Allow: []string{bound}, Bound: bound})
			}
		}
	}
	return out
}

// upToRepository are the project and the folders above it to the one that has
// .git; the project alone when there is none.
func upToRepository(project, home string) (levels []string) {
	project = filepath.Clean(project)
	for at := project; ; at = filepath.Dir(at) {
		levels = append(levels, at)
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return levels
		}
		if up := filepath.Dir(at); up == home || up == filepath.Dir(up) {
			return []string{project}
		}
	}
}
