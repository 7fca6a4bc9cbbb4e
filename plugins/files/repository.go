package main

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
)

// checkGit refuses to change what git obeys in a repository anywhere in the
// project, and to make one: .git itself, and the part that makes a repository
// of a folder.
func checkGit(pl *place) error {
	if err := checkGitNames(pl.path); err != nil {
		return err
	}
	parts := strings.Split(pl.path, "/")
	for i, part := range parts {
		if i < len(pl.stack) && bare(pl.stack[i].root, part) {
			return sdk.Errorf(sdk.Permission, "%s is protected: with it git takes %s for a repository and obeys what is in it; ask the person to do it",
				shown(pl.path), shown(path.Join(".", path.Join(parts[:i]...))))
		}
	}
	return nil
}

// checkGitNames is the part of checkGit that needs no look at the project.
func checkGitNames(at string) error {
	parts := strings.Split(at, "/")
	for i, part := range parts {
		switch {
		case alike(part, ".git") && i == len(parts)-1:
			return sdk.Errorf(sdk.Permission, "%s holds what git obeys, which is protected, so it can be neither made, replaced, moved nor deleted; ask the person to do it", shown(at))
		case i > 0 && alike(parts[i-1], ".git") && slices.ContainsFunc(protectedGit, func(name string) bool { return alike(part, name) }):
			return sdk.Errorf(sdk.Permission, "%s is protected: no tool may change %s, because the host trusts what is in it; ask the person to do it", shown(at), shown(path.Join(parts[:i+1]...)))
		}
	}
	return nil
}

// alike tells whether some file system takes two names for the same.
func alike(a, b string) bool { return fold(a) == fold(b) }

// bare tells whether a name in a folder is what git obeys because the folder is
// a repository under a name of its own, or what would make it one.
func bare(dir *os.Root, name string) bool {
	has := func(entry string) bool {
		_, err := dir.Lstat(entry)
		return entry == name || err == nil
	}
	switch name {
	case "HEAD", "objects", "refs":
		if _, err := dir.Lstat(name); err == nil {
			return false
		}
	default:
		if !slices.Contains(protectedGit, name) {
			return false
		}
	}
	return has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

// configured are the paths of the project that git obeys because configuration
// says so: the user's, and that of each repository on the way to a path.
func (p *project) configured(around string) []string {
	base, err := filepath.EvalSymlinks(p.dir)
	if err != nil {
		return nil
	}
	home, _ := os.UserHomeDir() // without one there is no configuration in it
	global := readGitSettings(globalGitConfig(home), home)
	found := slices.Clone(global.Files)
	worktree := base
	for part := range strings.SplitSeq("./"+path.Clean("/"+around), "/") {
		worktree = filepath.Join(worktree, part)
		if _, err := os.Lstat(filepath.Join(worktree, ".git")); err != nil {
			continue
		}
		git, common := gitFolder(worktree)
		own := readGitSettings([]string{filepath.Join(common, "config"), filepath.Join(git, "config.worktree")}, home)
		found = append(found, own.Files...)
		for _, hooks := range slices.Concat(own.Hooks, global.Hooks) {
			found = append(found, from(worktree, hooks))
		}
	}
	var paths []string
	for _, path := range found {
		rel, err := filepath.Rel(base, path)
		if err != nil || !filepath.IsLocal(rel) {
			rel, err = filepath.Rel(p.dir, path)
		}
		if err == nil && filepath.IsLocal(rel) && rel != "." && !slices.Contains(paths, rel) {
			paths = append(paths, filepath.ToSlash(rel))
		}
	}
	return paths
}
