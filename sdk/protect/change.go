package protect

import (
	"cmp"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Kind is what lies at a path.
type Kind string

// The kinds.
const (
	Nothing   Kind = ""
	File      Kind = "file"
	Directory Kind = "directory"
	Link      Kind = "link"
	Other     Kind = "other" // a socket, a pipe or a device
)

// Change is one path of a project that a command changed, with no links on the
// way to it.
type Change struct {
	Path    string // slashes, relative to the project
	Was, Is Kind
	// Whole says of a folder that it is new, or that another one took the place of
	// the one that was: all that lies in it is among the changes.
	Whole bool
	// Read and ReadBefore read a file as it is and as it was. They are asked for
	// few paths, and nil for none; what cannot be read is judged as if it said the
	// worst.
	Read, ReadBefore func() ([]byte, error)
}

// replaces says whether what lay in a folder is no more what it was: the folder
// went, something else or another folder took its place, or what is there leads
// elsewhere.
func (c Change) replaces() bool {
	return c.Was == Directory && (c.Is != Directory || c.Whole) || c.Is == Link || c.Is == File || c.Is == Other
}

// Changes judges the changes of one command together, and answers in their order.
// Parents stand before what lies in them. The project is as it was before them:
// what it holds now says what git's configuration names, and whether a folder
// becomes a repository.
//
// A repository that is new is free with what `git init` writes, its hooks left
// out; so is what git itself changes in one, such as its index and objects. A
// configuration of git that gains or loses nothing but branches and servers is
// asked. What of a repository may be applied is said path by path: it works
// without the rest.
func (r Rules) Changes(project string, changes []Change) []Finding {
	if len(changes) == 0 {
		return nil
	}
	s := r.survey(project, changes)
	found := make([]Finding, len(changes))
	for i, c := range changes {
		parts := split(c.Path)
		found[i] = r.change(s, c, parts, foldAll(parts))
	}
	return found
}

// survey is what a look at the project tells about the changes of one command.
type survey struct {
	disk   disk
	holder string
	own    []led // of Bothy
	led    []led
	git    *repositories
	gone   map[string]bool // folders that go
}

func (r Rules) survey(project string, changes []Change) *survey {
	s := &survey{disk: disk(project)}
	own, holder := r.Own(project)
	s.holder = holder
	for _, at := range own {
		s.own = append(s.own, led{Finding{Refused, byBothy, at, false}, Fold(at)})
	}
	s.git = &repositories{disk: s.disk, now: make(map[string]Change, len(changes)), bare: map[string]bare{}, refused: map[string]bool{}}
	for _, c := range changes {
		s.git.now[path.Clean(c.Path)] = c
	}
	for _, f := range r.Obeyed(project, s.disk.ways(changes)) {
		s.led = append(s.led, led{f, Fold(f.Name)})
	}
	return s
}

// change is the finding about one change. Its path has no links in it, so that
// what links lead to was found before.
func (r Rules) change(s *survey, c Change, parts, folded []string) Finding {
	if s.holder != "" {
		return Finding{Refused, byHolder, s.holder, false}
	}
	found := s.held(c, byNames(parts, folded, c.replaces()))
	if goes := c.Was == Directory && (c.Is != Directory || c.Whole); goes && found.Class < Asked && !s.goes(c.Path) {
		found = stricter(found, r.inside(s.disk, c.Path))
	}
	if Alike(path.Base(c.Path), gitAttributes) && found.Reason == byDrivers && !namesDrivers(c) {
		found = Finding{}
	}
	found = stricter(found, s.git.judge(c, parts, folded))
	at := path.Join(folded...)
	for _, led := range s.led {
		found = stricter(found, led.touchedBy(c, at))
	}
	found = r.set(parts, folded, found)
	if found.Holds && !c.replaces() {
		found = Finding{}
	}
	for _, own := range s.own {
		found = stricter(found, own.touchedBy(c, at))
	}
	return found
}

// held is a finding about a folder, unless nothing of what it would hold is there:
// a path that is made may make it hold that.
func (s *survey) held(c Change, found Finding) Finding {
	if found.Holds && c.Is != Link && !s.disk.has(found.Name) {
		return Finding{}
	}
	return found
}

// goes says whether a folder lies in one that goes too, and was looked into with that.
func (s *survey) goes(folder string) bool {
	if s.gone == nil {
		s.gone = map[string]bool{}
	}
	for at := path.Dir(folder); at != "."; at = path.Dir(at) {
		if s.gone[at] {
			return true
		}
	}
	s.gone[folder] = true
	return false
}

// inside is the finding about a folder of the project that goes with a protected path in
// it, at any depth, or one that nobody may look into: a person is asked, whatever the class of
// the path, since what goes there is a whole folder, and undo gives it back. Below packages
// nothing is looked for.
func (r Rules) inside(project disk, folder string) (found Finding) {
	if slices.Contains(foldAll(split(folder)), packages) {
		return Finding{}
	}
	top := filepath.Join(string(project), filepath.FromSlash(folder))
	_ = filepath.WalkDir(top, func(at string, entry fs.DirEntry, err error) error { // it returns none
		rel, relErr := filepath.Rel(string(project), at)
		if relErr != nil || at == top && err == nil {
			return nil
		}
		if err != nil {
			found = Finding{Asked, byUnread, filepath.ToSlash(rel), true}
			return fs.SkipAll
		}
		parts := split(filepath.ToSlash(rel))
		folded := foldAll(parts)
		named := byNames(parts, folded, false)
		switch folded[len(folded)-1] {
		case packages:
			if entry.IsDir() {
				return fs.SkipDir
			}
		case gitFolderName:
			named = Finding{Refused, byGit, path.Join(parts...), false}
		case "head":
			if isBare(filepath.Dir(at)) {
				named = Finding{Refused, byBecame, path.Join(parts[:len(parts)-1]...), false}
			}
		}
		if named = r.set(parts, folded, named); named.Class == Free {
			return nil
		}
		found = Finding{Asked, named.Reason, named.Name, true}
		return fs.SkipAll
	})
	return found
}

// isBare says whether a folder of the host is a repository under a name of its own.
func isBare(folder string) bool {
	return Rules{}.IsRepository(func(name string) bool { return disk(folder).has(name) })
}

// led is what is known of a path beyond its name, such as that configuration names
// it or a link leads to it, and the path's folding.
type led struct {
	Finding
	folded string
}

// touchedBy says whether a change, whose folded path is given, touches the path, or
// all that lies in it.
func (l led) touchedBy(c Change, folded string) Finding {
	switch {
	case within(folded, l.folded):
		return l.Finding
	case c.replaces() && within(l.folded, folded):
		l.Holds = true
		return l.Finding
	}
	return Finding{}
}

// Names are the paths at the top of a project that are not free by their names
// alone, the refused ones first. Links may lead them elsewhere.
func Names() (all []Finding) {
	for _, first := range names {
		for _, n := range first {
			all = append(all, Finding{n.class, n.reason, path.Join(n.parts...), false})
		}
	}
	slices.SortFunc(all, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Class, a.Class), strings.Compare(a.Name, b.Name))
	})
	return all
}
