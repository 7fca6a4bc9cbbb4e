package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Where no view of a project is possible, the project itself is mounted. A protected
// path that exists is mounted read-only over itself then, and a repository as a
// whole, so that no command leaves anything in it. One that does not exist cannot be, since the mount point would have to be made in the
// project; it is watched: looked at before and after each command, and taken
// away again when it appeared. The same holds for symbolic links on the way to
// a protected path, beside which their target is mounted read-only when it lies
// in the project.

// protectedMount is a path of the project that is mounted over itself.
type protectedMount struct {
	Path     string `json:"path"`
	ReadOnly bool   `json:"read_only"`
}

// watched is a path of the project and what it was before a command.
type watched struct {
	Path   string `json:"path"`
	Before state  `json:"before"`
	// Directory says that becoming a directory is no violation.
	Directory bool `json:"directory,omitempty"`
}

// state is what a path is, without following links.
type state struct {
	// Kind is absent, link, file, dir or other.
	Kind string `json:"kind"`
	// At is the component that decided: the link, or the first that is
	// absent or no directory; the path itself otherwise.
	At string `json:"at"`
	// Target is where a link points.
	Target string `json:"target,omitempty"`
}

const (
	kindAbsent = "absent"
	kindLink   = "link"
	kindFile   = "file"
	kindDir    = "dir"
	kindOther  = "other"
)

// protection is the plan for one project at one moment.
type protection struct {
	project string
	// folder is the project's own, when it was looked at; nil when that was
	// an earlier manager.
	folder fs.FileInfo
	mounts []protectedMount
	watch  []watched
	// git says that repositories are protected; then they are those that
	// were there.
	git          bool
	repositories []repository
}

// newProtection looks at every protected path of a project: those given, and
// those of the repositories in it.
func newProtection(root *os.Root, project string, by Protector, paths []string, found []repository) (*protection, error) {
	p := &protection{project: project, git: guardsGit(paths), repositories: found}
	if p.git {
		var folders []string
		for _, r := range found {
			if r.Kind != repositoryNamed {
				folders = append(folders, r.worktree())
			}
		}
		paths = slices.Concat(paths, repository{Path: ".git"}.guarded(by.GitNames()), by.Configured(project, folders))
		for _, r := range found {
			paths = append(paths, r.guarded(by.GitNames())...)
		}
	}
	paths = slices.Clone(paths)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	for _, path := range paths {
		s, err := look(root, path)
		if err != nil {
			return nil, failed("look at protected path "+path, err)
		}
		p.add(path, s)
	}
	if err := p.addGit(root, paths); err != nil {
		return nil, err
	}
	p.order()
	return p, nil
}

// about says whether the plan is of this directory.
func (p *protection) about(folder fs.FileInfo) bool {
	return p.folder == nil || os.SameFile(p.folder, folder)
}

// guardsGit says whether what git obeys is protected, which is so unless the
// configuration says otherwise.
func guardsGit(paths []string) bool {
	return slices.Contains(paths, filepath.Join(".git", "config"))
}

func (p *protection) add(path string, s state) {
	switch s.Kind {
	case kindFile, kindDir:
		p.mount(s.At, true)
	case kindLink:
		p.watch = append(p.watch, watched{Path: path, Before: s})
		if target, ok := p.inside(path); ok {
			p.mount(target, true)
		}
	default:
		p.watch = append(p.watch, watched{Path: path, Before: s})
	}
}

// addGit mounts repositories read-only, but for those that have another name than
// .git: what else is in their folder may be the project's. Those are bound onto
// themselves, so that none can be renamed away with the mounts in it. It watches that .git becomes nothing but a
// directory: as a file or link it would name another repository's
// configuration.
func (p *protection) addGit(root *os.Root, paths []string) error {
	if !slices.ContainsFunc(paths, func(path string) bool { return strings.HasPrefix(path, ".git/") }) {
		return nil
	}
	for _, r := range p.repositories {
		if r.Path != "." && (r.Kind == repositoryFolder || r.Kind == repositoryBare) {
			p.mount(r.Path, r.Kind == repositoryFolder)
		}
	}
	s, err := look(root, ".git")
	if err != nil {
		return failed("look at .git", err)
	}
	switch s.Kind {
	case kindDir:
		p.mount(".git", true)
	case kindAbsent:
		p.watch = append(p.watch, watched{Path: ".git", Before: s, Directory: true})
	}
	return nil
}

func (p *protection) mount(path string, readOnly bool) {
	for _, m := range p.mounts {
		if m.Path == path {
			return
		}
	}
	p.mounts = append(p.mounts, protectedMount{Path: path, ReadOnly: readOnly})
}

// order puts parents before what lies in them: mounts are made, and changes are
// undone, in this order. The folders above a protected path are bound onto
// themselves too, so that none can be renamed and another put in its place; but
// not those above a repository, which may be moved as a whole. What lies in a
// read-only mount needs none of its own, and could only undo it; and nothing appears
// there.
func (p *protection) order() {
	for _, m := range p.mounts {
		for dir := filepath.Dir(m.Path); dir != "." && !p.movable(m.Path); dir = filepath.Dir(dir) {
			p.mount(dir, false)
		}
	}
	p.mounts = slices.DeleteFunc(p.mounts, func(m protectedMount) bool { return p.sealed(filepath.Dir(m.Path)) })
	p.watch = slices.DeleteFunc(p.watch, func(w watched) bool { return p.sealed(w.Path) })
	slices.SortFunc(p.mounts, func(a, b protectedMount) int { return strings.Compare(a.Path, b.Path) })
	slices.SortFunc(p.watch, func(a, b watched) int { return strings.Compare(a.Path, b.Path) })
}

// copied are the paths that a copy is kept of, in case that their mount goes away
// while a command runs: what is read-only, and of a repository what git obeys in it.
func (p *protection) copied(gitNames []string) []string {
	var paths []string
	for _, m := range p.mounts {
		isRepository := func(r repository) bool { return r.Kind == repositoryFolder && r.Path == m.Path }
		if m.ReadOnly && !slices.ContainsFunc(p.repositories, isRepository) {
			paths = append(paths, m.Path)
		}
	}
	for _, r := range p.repositories {
		if r.Kind == repositoryFolder {
			paths = append(paths, r.guarded(gitNames)...)
		}
	}
	return paths
}

// movable says whether a path belongs to a repository below the project.
func (p *protection) movable(path string) bool {
	return slices.ContainsFunc(p.repositories, func(r repository) bool {
		return r.Path != "." && r.Path != ".git" && r.Kind != repositoryNamed && (path == r.Path || strings.HasPrefix(path, r.Path+string(filepath.Separator)))
	})
}

// sealed says whether a path is mounted read-only, or lies in what is.
func (p *protection) sealed(path string) bool {
	for ; path != "."; path = filepath.Dir(path) {
		if slices.Contains(p.mounts, protectedMount{Path: path, ReadOnly: true}) {
			return true
		}
	}
	return false
}

// inside resolves a path with links to the path it means in the project.
func (p *protection) inside(path string) (string, bool) {
	base, err := filepath.EvalSymlinks(p.project)
	if err != nil {
		return "", false
	}
	target, err := filepath.EvalSymlinks(filepath.Join(p.project, path))
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(base, target)
	if err != nil || !filepath.IsLocal(rel) || rel == "." {
		return "", false
	}
	return rel, true
}

// look tells what a path is, component by component, following nothing.
func look(root *os.Root, path string) (state, error) {
	parts := strings.Split(path, string(filepath.Separator))
	for i := range parts {
		at := filepath.Join(parts[:i+1]...)
		last := i == len(parts)-1
		info, err := root.Lstat(at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return state{Kind: kindAbsent, At: at}, nil
		case err != nil:
			return state{}, err
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := root.Readlink(at)
			if err != nil {
				return state{}, err
			}
			return state{Kind: kindLink, At: at, Target: target}, nil
		case info.IsDir():
			if last {
				return state{Kind: kindDir, At: at}, nil
			}
		case info.Mode().IsRegular():
			return state{Kind: kindFile, At: at}, nil
		default:
			return state{Kind: kindOther, At: at}, nil
		}
	}
	return state{}, fmt.Errorf("empty path")
}

// changed says whether what was watched is something else now.
func (w watched) changed(now state) bool {
	if w.Before.Kind == kindAbsent {
		if now.Kind == kindAbsent || w.Directory && now.Kind == kindDir {
			return false
		}
		return true
	}
	return now != w.Before
}
