package places

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/sdk"
)

// Folder is one folder in which skills or agents are looked for.
type Folder struct {
	Tier  sdk.SkillTier
	Path  string   // absolute; it need not be there
	Allow []string // where symbolic links may lead, beside Path itself
	Bound string   // when not empty, Path itself must not lead out of it
}

// User are folders of the person's own, the one that goes first before the others. Installers put
// one copy of something into one of them and link to it into the others.
func User(paths ...string) (out []Folder) {
	for _, path := range paths {
		out = append(out, Folder{Tier: sdk.TierUser, Path: path, Allow: paths})
	}
	return out
}

// Workspace are the folders of these names of a project, the nearest first, up to the root of
// its repository. What lies above the home directory belongs to no project, and
// neither does that itself. A folder that counts for all projects, as those of
// a home that is the project do, is not one of a workspace too.
func Workspace(project, home string, names []string, shared []Folder) []Folder {
	levels := upToRepository(project, home)
	bound := levels[len(levels)-1]
	counted := map[string]bool{}
	for _, f := range shared {
		counted[sdk.WithoutLinks(f.Path)] = true
	}
	var out []Folder
	for _, level := range levels {
		for _, name := range names {
			path := filepath.Join(level, filepath.FromSlash(name))
			real := sdk.WithoutLinks(path)
			if _, inside := Below(sdk.WithoutLinks(bound), real); !inside || !counted[real] { // a link out is shown as what it is
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

// Open opens the folder, which is the first of the roots, and those that its links may lead to;
// of a workspace the last one is its bound. It is ErrEscape when the folder itself leads out of
// its bound. The roots have to be closed in any case.
func (f Folder) Open() (Roots, error) {
	root, err := openRoot(f.Path)
	if err != nil {
		return nil, err
	}
	roots := Roots{root}
	for _, path := range f.Allow {
		if a, err := openRoot(path); err == nil {
			roots = append(roots, a)
		}
	}
	if f.Bound == "" {
		return roots, nil
	}
	bound, err := filepath.EvalSymlinks(f.Bound)
	if err != nil {
		return roots, err
	}
	if _, inside := Below(bound, root.Real); !inside {
		return roots, fmt.Errorf("%w: it is a link that leads out of %s", ErrEscape, f.Bound)
	}
	return roots, nil
}
