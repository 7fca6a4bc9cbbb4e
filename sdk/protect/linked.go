package protect

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
)

// How far a project is searched for links in protected places. A link beyond it
// protects nothing but itself.
const (
	mostFolders = 250  // of the project, and four times as many on the way to changes
	mostDeep    = 2    // folders below the top
	mostEntries = 5000 // of a folder
	mostHeld    = 500  // entries of a protected folder, and what is below them
	heldDeep    = 3    // folders in a protected one
)

// linkSearch looks for what links in protected places lead to. What it finds has
// the class of the place.
type linkSearch struct {
	rules   Rules
	project string
	seen    map[string]bool // folders and places that were looked into
	found   []Finding
	known   map[Finding]bool
}

// linked are the paths to which links lead that stand in the place of a protected
// path or in a protected folder: at the top of a project, in the folders that are
// given, and in as many others as are searched. Where a link leads out of the
// project nothing is found.
func (r Rules) linked(project string, folders []string) []Finding {
	l := &linkSearch{rules: r, project: project, seen: map[string]bool{}, known: map[Finding]bool{}}
	for _, f := range Names() {
		l.named(f)
	}
	l.repository(".")
	level, left := []string{"."}, mostFolders
	for range 1 + mostDeep {
		var below []string
		for _, folder := range level[:min(len(level), left)] {
			left--
			below = append(below, l.folder(folder)...)
		}
		level = below
	}
	for _, folder := range folders[:min(len(folders), 4*mostFolders)] {
		l.folder(folder)
	}
	return l.found
}

// folder looks for protected names in a folder of the project, once, and returns
// the folders in it that are the project's own.
func (l *linkSearch) folder(folder string) (below []string) {
	if l.seen[folder] {
		return nil
	}
	l.seen[folder] = true
	entries := l.entries(folder, mostEntries)
	has := map[string]bool{}
	for _, e := range entries {
		at, name := path.Join(folder, e.Name()), Fold(e.Name())
		if slices.Contains(gitFirst, name) {
			has[e.Name()] = true
		}
		if name == gitFolderName {
			l.repository(folder)
			continue
		}
		whole := false
		for _, n := range names[name] {
			whole = whole || len(n.parts) == 1
			l.named(Finding{n.class, n.reason, path.Join(at, path.Join(n.parts[1:]...)), false})
		}
		if e.IsDir() && !whole && name != packages {
			below = append(below, at)
		}
	}
	if (has["HEAD"] || has["commondir"]) && l.rules.IsRepository(func(name string) bool { return disk(l.project).has(path.Join(folder, name)) }) {
		l.obeyed(folder)
	}
	return below
}

// repository looks at what git obeys in the repository of a worktree, wherever it
// lies in the project.
func (l *linkSearch) repository(worktree string) {
	at := path.Join(worktree, gitFolderName)
	if l.rules.Name(at).Class < Refused {
		return // the configuration frees it
	}
	// Where a link leads for .git there is a repository, which is known as one.
	if links := leads(l.project, at); len(links) > 0 {
		for _, link := range links[:len(links)-1] {
			l.add(Finding{Refused, byGit, link, false})
		}
	}
	for _, base := range both(l.project) {
		folder, common := gitFolder(filepath.Join(base, worktree))
		for _, repository := range []string{folder, common} {
			if rel, ok := local(base, repository); ok && rel != "." {
				l.obeyed(rel)
			}
		}
	}
}

// obeyed looks at what git obeys in a repository's folder.
func (l *linkSearch) obeyed(repository string) {
	if links := leads(l.project, repository); len(links) > 0 {
		repository = links[len(links)-1] // a configuration there is judged as one
	}
	for _, part := range gitParts {
		f := Finding{Refused, byGit, path.Join(repository, path.Join(part...)), false}
		if part[0] == "hooks" {
			l.place(f)
		} else {
			l.follow(f, f.Name)
		}
	}
}

// named looks at a place that its name protects, unless the configuration frees it.
func (l *linkSearch) named(f Finding) {
	if l.rules.Name(f.Name).Class >= f.Class {
		l.place(f)
	}
}

// place looks at one protected place, and at what is in it.
func (l *linkSearch) place(f Finding) {
	if l.seen[f.Name] {
		return
	}
	l.seen[f.Name] = true
	l.follow(f, f.Name)
	left := mostHeld
	l.inside(f, f.Name, heldDeep, &left)
}

// inside looks for links in a protected folder. One that leads to a folder around
// it adds nothing.
func (l *linkSearch) inside(f Finding, folder string, depth int, left *int) {
	entries := l.entries(folder, *left)
	*left -= len(entries)
	for _, e := range entries {
		at := path.Join(folder, e.Name())
		isLink := e.Type()&fs.ModeSymlink != 0
		if isLink {
			if links := leads(l.project, at); len(links) > 0 && Within(at, links[len(links)-1]) {
				continue
			}
			l.follow(f, at)
		}
		if depth > 0 && *left > 0 && (isLink || e.IsDir()) && !Alike(e.Name(), packages) {
			l.inside(f, at, depth-1, left)
		}
	}
}

// follow adds the links on the way to a path, and where they lead in the end.
func (l *linkSearch) follow(f Finding, at string) {
	for _, to := range leads(l.project, at) {
		f.Name = to
		l.add(f)
	}
}

// add adds a path that its own name does not protect as much.
func (l *linkSearch) add(f Finding) {
	parts := split(f.Name)
	folded := foldAll(parts)
	if byNames(parts, folded, false).Class >= f.Class || l.known[f] {
		return
	}
	if i := slices.Index(folded, gitFolderName); i >= 0 && i < len(parts)-1 {
		if n, _ := obeyed(folded[i+1:]); n > 0 {
			return
		}
	}
	l.known[f] = true
	l.found = append(l.found, f)
}

// entries are what is in a folder, no more than so many; nothing of what is none
// or cannot be read.
func (l *linkSearch) entries(folder string, most int) []fs.DirEntry {
	if most <= 0 {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(l.project, folder), os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	defer func() { _ = f.Close() }() // it was only read
	entries, _ := f.ReadDir(most)    // what could be read counts
	return entries
}
