package main

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/bothyd/bothy/sdk"
)

// protectedPaths is what no tool may change: the host runs git's hooks, git
// obeys its configuration, and Bothy trusts its own folders (ADR 0007). The
// sandbox and daemon/internal/policy have lists of their own, since the import
// rules keep them apart; a test of package daemon compares them.
var protectedPaths = []string{".git/hooks", ".git/config", ".bothy", ".agents", ".claude/skills", "bothy.lock"}

// protectedGit are the names in any repository, wherever it lies, that git reads
// as configuration, or as the place where configuration and hooks are.
var protectedGit = []string{"commondir", "config", "config.worktree", "hooks", "modules", "worktrees"}

// protection knows the protected paths of one project as they are now: by name,
// by where links lead them, and by what they are on disk.
type protection struct {
	paths []guarded
	links []guarded // on the way to a protected path
	files []fs.FileInfo
}

// guarded is a path with the form it is compared in.
type guarded struct{ name, folded string }

func guard(name string) guarded { return guarded{name, fold(name)} }

// protection looks at the protected paths, and at what the repositories around
// a path name in their configuration. A project without them has them all the
// same: they cannot be created either.
func (p *project) protection(around string) (*protection, error) {
	g := &protection{}
	own, err := p.bothyNames()
	if err != nil {
		return nil, err
	}
	names := slices.Concat(protectedPaths, own, p.configured(around))
	for _, name := range protectedGit {
		names = append(names, path.Join(".git", name))
	}
	for _, name := range names {
		g.paths = append(g.paths, guard(name))
		pl, err := p.resolve(name, lookup{})
		if err != nil {
			if sdk.OutcomeOf(err) == sdk.Internal {
				return nil, err
			}
			continue // it leads nowhere that a tool could reach
		}
		g.paths = append(g.paths, guard(pl.path))
		for _, link := range pl.links {
			g.links = append(g.links, guard(link))
		}
		if pl.info != nil {
			g.files = append(g.files, pl.info)
		}
		pl.close()
	}
	return g, nil
}

// check refuses to change a place: one that is protected, lies in what is, or
// holds it, since a folder that is moved takes its contents along.
func (g *protection) check(pl *place) error {
	if err := checkGit(pl); err != nil {
		return err
	}
	at := fold(pl.path)
	for _, path := range g.paths {
		if at == path.folded || below(at, path.folded) {
			return refused(pl, path.name)
		}
		if at == "." || below(path.folded, at) {
			return sdk.Errorf(sdk.Permission, "%s holds the protected path %s, so it can be neither made, replaced, moved nor deleted; ask the person to do it", shown(pl.path), shown(path.name))
		}
	}
	for _, link := range g.links {
		if at == link.folded || below(link.folded, at) {
			return sdk.Errorf(sdk.Permission, "%s leads to a protected path through a symbolic link, so it cannot be changed; ask the person to do it", shown(pl.path))
		}
	}
	for _, file := range g.files {
		if pl.info != nil && os.SameFile(file, pl.info) {
			return refused(pl, file.Name())
		}
		for _, dir := range pl.above {
			if os.SameFile(file, dir) {
				return refused(pl, file.Name())
			}
		}
	}
	return nil
}

func refused(pl *place, name string) error {
	return sdk.Errorf(sdk.Permission, "%s is protected: no tool may change %s, because the host trusts what is in it; ask the person to do it", shown(pl.path), shown(name))
}

// below tells whether a path lies in the folder dir.
func below(path, dir string) bool { return strings.HasPrefix(path, dir+"/") }

// fold makes two names equal when some file system takes them for the same: it
// removes case, and the invisible characters that HFS+ ignores.
func fold(path string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Cf, r) {
			return -1
		}
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, path)
}
