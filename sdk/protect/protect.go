// Package protect knows what the host obeys in a project: what git runs or reads
// as configuration, what Bothy trusts, what shells and other agents obey, and what
// editors and tools run. It is the one list of it, in three classes: what nobody
// changes, what a person is asked about, and what is free. The policy, the files
// tool, commands and the sandbox read it, each by means of its own (ADR 0052).
//
// [Rules.Name] looks at a name alone, [Rules.Changes] at what a command changed and
// at the project. [Rules.Paths] and what stands beside it are what the sandbox
// mounts read-only where a command works in the project itself.
package protect

import "strings"

// Paths are what is refused in every project, relative to it, where commands work in
// the project itself: what lies at its top. Below it that holds for repositories
// alone.
func Paths() []string {
	paths := []string{".git/config", ".git/hooks"}
	for _, f := range Names() {
		if f.Class == Refused {
			paths = append(paths, f.Name)
		}
	}
	return paths
}

// GitNames are what git reads in any repository, wherever it lies, as
// configuration, or as the place where configuration and hooks are.
func GitNames() []string {
	return []string{"commondir", "config", "config.worktree", "hooks", "modules", "worktrees"}
}

// Within says whether a path is a folder, or lies in it.
func Within(at, folder string) bool { return within(Fold(at), Fold(folder)) }

func within(at, folder string) bool { return at == folder || strings.HasPrefix(at, folder+"/") }
