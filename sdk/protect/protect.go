// Package protect knows what the host obeys in a project, which no command and no
// tool may change: what git runs or reads as configuration, and what Bothy itself
// trusts. It is the one list of it; the sandbox, the files tool and the policy
// read it, each by means of its own (ADR 0007).
//
// [Judge] and [JudgeGit] look at names alone. What else is protected in a project
// depends on what is there: [Rules] look at the disk.
package protect

import (
	"path"
	"slices"
	"strings"
)

// Paths are protected in every project, relative to it: the host runs git's hooks,
// git obeys its configuration, and Bothy trusts its own folders.
func Paths() []string {
	return []string{".git/hooks", ".git/config", ".bothy", ".agents", ".claude/skills", "bothy.lock"}
}

// GitNames are what git reads in any repository, wherever it lies, as
// configuration, or as the place where configuration and hooks are.
func GitNames() []string {
	return []string{"commondir", "config", "config.worktree", "hooks", "modules", "worktrees"}
}

// Finding says what the name of a path tells of it. The zero one is of a path that
// may be changed.
type Finding struct {
	// Reason is why the path may not be changed.
	Reason Reason
	// Name is the protected path that the reason is about.
	Name string
}

// Reason is why a path may not be changed.
type Reason string

// The reasons; the empty one stands for none.
const (
	// Protected is of a path that is protected, or lies in one that is.
	Protected Reason = "protected"
	// Holds is of a folder with a protected path in it, which a move of the
	// folder would take along.
	Holds Reason = "holds"
	// Repository is of a .git, which holds what git obeys, or as a file leads to it.
	Repository Reason = "repository"
)

// Judge compares a path with protected ones: slashes, relative to the project,
// clean. The first that it touches decides.
func Judge(at string, protected []string) Finding {
	folded := Fold(at)
	for _, name := range protected {
		switch other := Fold(name); {
		case within(folded, other):
			return Finding{Protected, name}
		case folded == "." || within(other, folded):
			return Finding{Holds, name}
		}
	}
	return Finding{}
}

// JudgeGit looks in a path for what git obeys in a repository anywhere in the
// project.
func JudgeGit(at string) Finding {
	parts := strings.Split(at, "/")
	for i, part := range parts {
		switch {
		case !Alike(part, ".git"):
		case i == len(parts)-1:
			return Finding{Repository, at}
		case slices.ContainsFunc(GitNames(), func(name string) bool { return Alike(parts[i+1], name) }):
			return Finding{Protected, path.Join(parts[:i+2]...)}
		}
	}
	return Finding{}
}

// Within says whether a path is a folder, or lies in it.
func Within(at, folder string) bool { return within(Fold(at), Fold(folder)) }

func within(at, folder string) bool { return at == folder || strings.HasPrefix(at, folder+"/") }
