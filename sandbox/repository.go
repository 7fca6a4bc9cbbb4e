package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A project may hold more repositories than its own: submodules, checkouts in
// folders below it, bare ones. The host's git obeys each that somebody enters,
// and those that the index names even at `git status` above them. So all are
// looked for, wherever they lie.

const (
	// mostFolders is how many folders of a project are looked at; beyond,
	// nobody could say whether a repository is among them.
	mostFolders = 1_000_000
	// mostRepositories is how many can be protected: each costs mounts.
	mostRepositories = 300
	// settled is how long a folder must have been left alone before its
	// change time vouches for its entries: the kernel's clock has steps.
	settled = time.Second
)

var (
	errManyFolders      = errors.New("the project has too many folders to look for repositories in; use a smaller part of it as the project")
	errManyRepositories = errors.New("the project has too many repositories in it to protect them all; use a smaller part of it as the project")
)

// repository is where the host's git would find one.
type repository struct {
	// Path is .git in some folder, or a bare repository's folder; "." when
	// the project itself is one.
	Path string `json:"path"`
	// Kind tells a folder named .git, a file or link of that name, a folder that
	// git takes for a repository under another name, and what has a protected name.
	Kind string `json:"kind"`
}

const (
	repositoryFolder = "folder"
	repositoryFile   = "file"
	repositoryLink   = "link"
	repositoryBare   = "bare"
	// repositoryNamed is none of git's: it has a name that is protected wherever it
	// lies, and lies below the project's top.
	repositoryNamed = "named"
)

// repositories finds the repositories of a project. It remembers every folder
// with its change time, which no command can set: only what changed is read.
type repositories struct {
	top *folder
}

// folder is what was read of one. Its path is whole, so that looking at it
// again allocates nothing.
type folder struct {
	path    string
	version folderVersion
	folders []*folder
	found   []repository
}

// folderVersion is a folder's identity and change time; the zero one is of none.
type folderVersion struct {
	dev, ino  uint64
	sec, nsec int64
}

// scan looks through the project; the repositories come in order.
func (r *repositories) scan(root *os.Root, by Protector) ([]repository, error) {
	top, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = top.Close() }() // it was only read
	if r.top == nil {
		r.top = &folder{path: "."}
	}
	s := &scan{root: root, top: top, protector: by, names: map[string]bool{}, unsettled: time.Now().Add(-settled)}
	for _, path := range by.Paths() {
		s.names[path] = true // one with several parts is no name
	}
	defer s.closeAgain()
	s.walk(r.top)
	if s.folders > mostFolders {
		return nil, errManyFolders
	}
	if len(s.found) > mostRepositories {
		return nil, errManyRepositories
	}
	slices.SortFunc(s.found, func(a, b repository) int { return strings.Compare(a.Path, b.Path) })
	return s.found, nil
}

type scan struct {
	root      *os.Root
	top       *os.File
	protector Protector
	names     map[string]bool // that are protected wherever they lie
	// unsettled is when a folder must have changed last for its change time
	// to vouch for it.
	unsettled time.Time
	folders   int
	found     []repository
	// opened are folders that their owner had closed, with their modes.
	opened []closedFolder
}

type closedFolder struct {
	path string
	mode fs.FileMode
}

// walk goes through a folder, which is read only when it changed. Left out is
// what is no folder any more, or cannot be reached: a path longer than the
// kernel takes, or a folder of somebody else's.
func (s *scan) walk(f *folder) {
	if s.folders++; s.folders > mostFolders {
		return
	}
	now, mode, err := folderVersionOf(s.top, f.path)
	if err != nil || !mode.IsDir() {
		f.version, f.folders, f.found = folderVersion{}, nil, nil
		return
	}
	if mode&0o500 != 0o500 {
		s.open(f.path, mode)
	}
	if now != f.version {
		f.version = folderVersion{}
		if s.read(f) && time.Unix(now.sec, now.nsec).Before(s.unsettled) {
			f.version = now
		}
	}
	s.found = append(s.found, f.found...)
	for _, sub := range f.folders {
		s.walk(sub)
	}
}

// read reads a folder; what is known of those in it is kept.
func (s *scan) read(f *folder) bool {
	entries, err := readFolder(s.root, f.path)
	if err != nil {
		f.folders, f.found = nil, nil
		return false
	}
	before := make(map[string]*folder, len(f.folders))
	for _, sub := range f.folders {
		before[sub.path] = sub
	}
	var names []string
	names, f.found = s.sorted(f.path, entries)
	f.folders = make([]*folder, len(names))
	for i, name := range names {
		path := filepath.Join(f.path, name)
		if f.folders[i] = before[path]; f.folders[i] == nil {
			f.folders[i] = &folder{path: path}
		}
	}
	return true
}

// open lets the scan into a folder that its owner closed: what a command hides
// is what has to be found.
func (s *scan) open(path string, mode fs.FileMode) {
	if s.root.Chmod(path, mode.Perm()|0o700) == nil {
		s.opened = append(s.opened, closedFolder{path, mode.Perm()})
	}
}

func (s *scan) closeAgain() {
	for _, f := range slices.Backward(s.opened) {
		_ = s.root.Chmod(f.path, f.mode)
	}
}

// readFolder never waits: a fifo may have taken the folder's place.
func readFolder(root *os.Root, path string) ([]fs.DirEntry, error) {
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return f.ReadDir(-1)
}

// sorted tells from a folder's entries which folders to go on with, and what git
// would see. Nothing is looked for in a folder named .git: git itself never
// enters what lies there.
func (s *scan) sorted(path string, entries []fs.DirEntry) (folders []string, found []repository) {
	for _, e := range entries {
		switch name := e.Name(); {
		case name == ".git" && e.IsDir():
			found = append(found, repository{filepath.Join(path, name), repositoryFolder})
		case name == ".git" && e.Type() == fs.ModeSymlink:
			found = append(found, repository{filepath.Join(path, name), repositoryLink})
		case name == ".git":
			found = append(found, repository{filepath.Join(path, name), repositoryFile})
		case s.names[name] && path != ".":
			found = append(found, repository{filepath.Join(path, name), repositoryNamed})
		case e.IsDir():
			folders = append(folders, name)
		}
	}
	has := func(name string) bool {
		return slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == name })
	}
	if s.protector.IsRepository(has) {
		found = append(found, repository{path, repositoryBare})
	}
	return folders, found
}

// guarded are the protected paths of a repository.
func (r repository) guarded(gitNames []string) []string {
	if r.Kind == repositoryFile || r.Kind == repositoryNamed {
		return []string{r.Path}
	}
	var paths []string
	for _, name := range gitNames {
		paths = append(paths, filepath.Join(r.Path, name))
	}
	return paths
}

// worktree is the folder whose repository it is.
func (r repository) worktree() string {
	if r.Kind == repositoryBare {
		return r.Path
	}
	return filepath.Dir(r.Path)
}

// planted is what has to go of a repository that a command made: what a
// repository of its own may not have, or what leads git elsewhere. Of a folder
// that only looks like a repository it is HEAD, without which it is none; the
// rest may well be the project's.
func (r repository) planted(gitNames []string) []watched {
	paths := r.guarded(gitNames)
	if r.Kind == repositoryLink {
		paths = []string{r.Path}
	}
	if r.Kind == repositoryBare {
		paths = []string{filepath.Join(r.Path, "HEAD")}
	}
	var out []watched
	for _, path := range paths {
		out = append(out, watched{Path: path, Before: state{Kind: kindAbsent, At: path}})
	}
	return out
}
