package main

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/protect"
)

// protection knows the protected paths of one project as they are now: by name,
// by where links lead them, and by what they are on disk.
type protection struct {
	rules protect.Rules
	paths []string
	links []string // on the way to a protected path
	files []fs.FileInfo
}

// protection looks at the protected paths, and at what the repositories around
// a path name in their configuration. A project without them has them all the
// same: they cannot be created either.
func (p *project) protection(around string) (*protection, error) {
	own, holder := p.rules.Own(p.dir)
	if holder != "" {
		return nil, sdk.Errorf(sdk.Permission, "the project lies in %s, which is Bothy's own and protected: nothing in it can be changed", shown(holder))
	}
	names := slices.Concat(p.rules.Paths(), own, p.rules.Configured(p.dir, p.worktrees(around)))
	for _, name := range p.rules.GitNames() {
		names = append(names, path.Join(".git", name))
	}
	g := &protection{rules: p.rules}
	for _, name := range names {
		g.paths = append(g.paths, name)
		pl, err := p.resolve(name, lookup{})
		if err != nil {
			if sdk.OutcomeOf(err) == sdk.Internal {
				return nil, err
			}
			continue // it leads nowhere that a tool could reach
		}
		g.paths, g.links = append(g.paths, pl.path), append(g.links, pl.links...)
		if pl.info != nil {
			g.files = append(g.files, pl.info)
		}
		pl.close()
	}
	return g, nil
}

// worktrees are the folders on the way to a path that have a .git.
func (p *project) worktrees(around string) []string {
	var found []string
	worktree := "."
	for part := range strings.SplitSeq("./"+path.Clean("/"+around), "/") {
		worktree = path.Join(worktree, part)
		if _, err := os.Lstat(filepath.Join(p.dir, worktree, ".git")); err == nil {
			found = append(found, worktree)
		}
	}
	return found
}

// check refuses to change a place: one that is protected, lies in what is, or
// holds it, since a folder that is moved takes its contents along.
func (g *protection) check(pl *place) error {
	if err := g.checkGit(pl); err != nil {
		return err
	}
	switch found := protect.Judge(pl.path, g.paths); found.Reason {
	case protect.Protected:
		return refused(pl.path, found.Name)
	case protect.Holds:
		return sdk.Errorf(sdk.Permission, "%s holds the protected path %s, so it can be neither made, replaced, moved nor deleted; ask the person to do it", shown(pl.path), shown(found.Name))
	}
	for _, link := range g.links {
		if protect.Within(link, pl.path) {
			return sdk.Errorf(sdk.Permission, "%s leads to a protected path through a symbolic link, so it cannot be changed; ask the person to do it", shown(pl.path))
		}
	}
	for _, file := range g.files {
		is := func(info fs.FileInfo) bool { return os.SameFile(file, info) }
		if pl.info != nil && is(pl.info) || slices.ContainsFunc(pl.above, is) {
			return refused(pl.path, file.Name())
		}
	}
	return nil
}

// checkGit refuses to change what git obeys in a repository anywhere in the
// project, and to make one: .git itself, and the part that makes a repository
// of a folder.
func (g *protection) checkGit(pl *place) error {
	if err := checkGitNames(pl.path); err != nil {
		return err
	}
	parts := strings.Split(pl.path, "/")
	for i, part := range parts {
		if i < len(pl.stack) && g.obeyed(pl.stack[i].root, part) {
			return sdk.Errorf(sdk.Permission, "%s is protected: with it git takes %s for a repository and obeys what is in it; ask the person to do it",
				shown(pl.path), shown(path.Join(".", path.Join(parts[:i]...))))
		}
	}
	return nil
}

// checkGitNames is the part of checkGit that needs no look at the project.
func checkGitNames(at string) error {
	switch found := protect.JudgeGit(at); found.Reason {
	case protect.Repository:
		return sdk.Errorf(sdk.Permission, "%s holds what git obeys, which is protected, so it can be neither made, replaced, moved nor deleted; ask the person to do it", shown(at))
	case protect.Protected:
		return refused(at, found.Name)
	}
	return nil
}

// obeyed tells whether a name in a folder is what git obeys because the folder is
// a repository under a name of its own, or what would make it one.
func (g *protection) obeyed(dir *os.Root, name string) bool {
	there := func(entry string) bool {
		_, err := dir.Lstat(entry)
		return err == nil
	}
	switch name {
	case "HEAD", "objects", "refs":
		if there(name) {
			return false
		}
	default:
		if !slices.Contains(g.rules.GitNames(), name) {
			return false
		}
	}
	return g.rules.IsRepository(func(entry string) bool { return entry == name || there(entry) })
}

func refused(at, name string) error {
	return sdk.Errorf(sdk.Permission, "%s is protected: no tool may change %s, because the host trusts what is in it; ask the person to do it", shown(at), shown(name))
}
