package protect

import (
	"path"
	"slices"
	"strings"
)

// named is a path that has its class wherever it lies in a project.
type named struct {
	parts  []string // folded
	class  Class
	reason string
}

// names are the paths that are not free by their names alone, by the first part
// of each. What git keeps in a repository is apart; see [gitParts].
var names = byFirst(
	list(Refused, byBothy, ".bothy", ".agents", "bothy.lock"),
	list(Refused, byAgent, ".claude", ".codex", ".cursor", ".gemini"),
	list(Refused, byShell, ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc", ".zprofile", ".zshenv",
		".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".cshrc", ".tcshrc", ".login", ".logout", ".config/fish"),
	list(Refused, byGit, ".gitconfig", ".config/git"),
	list(Asked, byEditor, ".vscode", ".idea", ".zed", ".devcontainer", ".devcontainer.json", ".mcp.json", ".envrc", ".npmrc", ".yarnrc", ".yarnrc.yml",
		".pnpmfile.cjs", ".cargo/config", ".cargo/config.toml", ".github/workflows", ".gitlab-ci.yml"),
	list(Asked, byHooks, ".husky", ".pre-commit-config.yaml", ".pre-commit-config.yml", "lefthook.yml", ".lefthook.yml"),
	list(Asked, byRemote, ".gitmodules"),
	list(Asked, byDrivers, gitAttributes),
)

const gitAttributes = ".gitattributes"

func list(class Class, reason string, paths ...string) []named {
	var all []named
	for _, p := range paths {
		all = append(all, named{strings.Split(Fold(p), "/"), class, reason})
	}
	return all
}

func byFirst(lists ...[]named) map[string][]named {
	all := map[string][]named{}
	for _, n := range slices.Concat(lists...) {
		all[n.parts[0]] = append(all[n.parts[0]], n)
	}
	return all
}

// packages are where others' packages are unpacked: nobody opens a folder in it,
// and packages are full of their authors' settings. Only what is asked is free
// there.
const packages = "node_modules"

// byNames looks for the names in a path, whose parts are clean. With holding it
// also finds what the path would hold.
func byNames(parts, folded []string, holding bool) (found Finding) {
	for i, first := range folded {
		for _, n := range names[first] {
			shared := min(len(n.parts), len(folded)-i)
			if !slices.Equal(folded[i:i+shared], n.parts[:shared]) || n.class == Asked && slices.Contains(folded[:i], packages) {
				continue
			}
			whole := shared == len(n.parts)
			if !whole && !holding {
				continue
			}
			name := path.Join(path.Join(parts[:i+shared]...), path.Join(n.parts[shared:]...))
			found = stricter(found, Finding{n.class, n.reason, name, !whole})
		}
	}
	return found
}

// Name judges a path by its name alone, as one that a tool or a command names:
// slashes, relative to the project. All that is git's own is refused here, since
// only git changes it well; [Rules.Changes] knows what of it git may change.
// What configuration names only a look at the project tells (Found), and so where
// links lead.
func (r Rules) Name(at string) Finding {
	parts := split(at)
	if len(parts) == 0 {
		return Finding{Refused, byGit, ".git", true}
	}
	folded := foldAll(parts)
	found := byNames(parts, folded, true)
	if i := slices.Index(folded, gitFolderName); i >= 0 {
		found = gitName(parts, folded, i)
	}
	for _, f := range r.Found {
		switch {
		case Within(path.Join(parts...), f.Name):
			found = stricter(found, f)
		case Within(f.Name, path.Join(parts...)):
			f.Holds = true
			found = stricter(found, f)
		}
	}
	return r.set(parts, folded, found)
}

const gitFolderName = ".git"

// gitName is the finding about a path with a .git at i: whatever lies in it.
func gitName(parts, folded []string, i int) Finding {
	if n, _ := obeyed(folded[i+1:]); n > 0 {
		return Finding{Refused, byGit, path.Join(parts[:i+1+n]...), false}
	}
	if i == len(parts)-1 {
		return Finding{Refused, byGit, path.Join(parts...), false}
	}
	return Finding{Refused, GitsOwn, path.Join(parts[:i+1]...), false}
}

func split(at string) []string {
	at = strings.Trim(path.Clean("/"+at), "/")
	if at == "" {
		return nil
	}
	return strings.Split(at, "/")
}

func foldAll(parts []string) []string {
	folded := make([]string, len(parts))
	for i, part := range parts {
		folded[i] = Fold(part)
	}
	return folded
}
