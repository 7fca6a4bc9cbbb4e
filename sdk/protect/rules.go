package protect

import (
	"os"
	"path/filepath"
	"slices"
)

// Rules are what is protected in the projects of one installation. The zero value
// knows no paths of Bothy itself, and nothing that was configured.
type Rules struct {
	// Bothy are absolute paths of Bothy itself, as [BothyPaths] names them.
	Bothy []string

	// Refuse, Ask and Free are patterns that were configured, relative to a
	// project: a name at any depth, or a path from the project on, with * and ?
	// within a name and ** over folders; what lies in a folder that fits is meant
	// too. Free takes away what is protected by itself, and the other two add to
	// what is left, so that one more of them never opens anything.
	Refuse, Ask, Free []string

	// Found is what a look at a project told beforehand, as [Rules.Obeyed] does: for
	// [Rules.Name], which looks at nothing.
	Found []Finding
}

// Paths are those of the function of that name.
func (Rules) Paths() []string { return Paths() }

// GitNames are those of the function of that name.
func (Rules) GitNames() []string { return GitNames() }

// IsRepository says whether git takes a folder for a repository under a name of
// its own, by the names that it has in it.
func (Rules) IsRepository(has func(name string) bool) bool {
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

// Configured are the paths of a project that git obeys because configuration says
// so: the user's, and that of the repositories whose worktrees, or which
// themselves, are the given folders, relative to the project.
func (r Rules) Configured(project string, folders []string) []string {
	base, err := filepath.EvalSymlinks(project)
	if err != nil {
		return nil
	}
	var paths []string
	add := func(path string) {
		for _, above := range []string{base, filepath.Clean(project)} {
			if rel, ok := local(above, path); ok && rel != "." && !slices.Contains(paths, rel) {
				paths = append(paths, rel)
			}
		}
	}
	home, _ := os.UserHomeDir() // without one there is no configuration in it
	global := readGitSettings(globalGitConfig(home), home)
	for _, file := range global.Files {
		add(file)
	}
	for _, folder := range folders {
		folder = filepath.Join(base, folder)
		own := readGitSettings(r.configOf(folder), home)
		for _, file := range own.Files {
			add(file)
		}
		for _, hooks := range slices.Concat(own.Hooks, global.Hooks) {
			add(from(folder, hooks))
		}
	}
	return paths
}

// configOf are the configuration files of the repositories that a folder is the
// worktree of, or that it is itself.
func (r Rules) configOf(folder string) []string {
	git, common := gitFolder(folder)
	files := []string{filepath.Join(common, "config"), filepath.Join(git, "config.worktree")}
	has := func(name string) bool {
		_, err := os.Lstat(filepath.Join(folder, name))
		return err == nil
	}
	if r.IsRepository(has) {
		files = append(files, filepath.Join(folder, "config"), filepath.Join(folder, "config.worktree"))
	}
	return files
}

// ConfiguresMore says whether the configuration in a repository's folder names
// other files, or hooks.
func (Rules) ConfiguresMore(folder string) bool {
	home, _ := os.UserHomeDir() // without one ~ leads nowhere
	s := readGitSettings([]string{filepath.Join(folder, "config"), filepath.Join(folder, "config.worktree")}, home)
	return len(s.Files)+len(s.Hooks) > 0
}

// GitTarget is the repository that the text of a folder's .git file names; the
// file itself when it names none.
func (Rules) GitTarget(worktree string, text []byte) string { return gitTarget(worktree, text) }
