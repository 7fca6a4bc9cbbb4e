package sandbox

// Protector says what the host obeys in a project, which no command may change.
// Bothy's is package sdk/protect. Paths are relative to the project, and clean.
type Protector interface {
	// Paths are protected in every project. Where .git/config is among them,
	// so is all that git obeys in the repositories of a project.
	Paths() []string
	// Own are paths in a project of the program that uses the sandbox itself:
	// its configuration, its data and its programs. Where the project lies in
	// one of them, that is the holder, and nothing can run there.
	Own(project string) (paths []string, holder string)

	// GitNames are what git obeys in a repository.
	GitNames() []string
	// IsRepository says whether git takes a folder that is not named .git for
	// a repository, by the names that it has in it.
	IsRepository(has func(name string) bool) bool
	// Configured are the paths of a project that git obeys because
	// configuration says so, given the folders that repositories are the
	// worktree of, or the repositories.
	Configured(project string, folders []string) []string
	// ConfiguresMore says whether the configuration in a repository's folder
	// names other files, or hooks. The folder is absolute.
	ConfiguresMore(folder string) bool
	// GitTarget is the repository that the text of the .git file in a folder
	// names. The folder is absolute.
	GitTarget(worktree string, text []byte) string
}
