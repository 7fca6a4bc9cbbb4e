package protect

import (
	"path"
	"slices"
)

// gitParts are what git obeys, or may go on with, in a repository's folder: the
// configuration and hooks, what leads to others, what programs it has stopped in
// the middle of, and what puts other contents in the place of an object's.
var gitParts = [][]string{
	{"config"}, {"config.worktree"}, {"hooks"}, {"commondir"}, {"modules"}, {"worktrees"}, {"remotes"}, {"branches"},
	{"rebase-merge"}, {"rebase-apply"}, {"sequencer"}, {"info", "attributes"}, {"info", "grafts"},
	{"objects", "info", "alternates"}, {"objects", "info", "http-alternates"}, {"refs", "replace"},
}

// emptyParts are the folders among gitParts that say nothing as long as they are
// empty: git makes them for each new repository.
var emptyParts = []string{"hooks", "branches", "remotes", "modules", "worktrees"}

// obeyed says how many names of a path in a repository's folder lead to what git
// obeys, 0 when it does not lie in such a thing, and whether it would hold one.
func obeyed(folded []string) (n int, holds bool) {
	for _, part := range gitParts {
		shared := min(len(part), len(folded))
		switch {
		case shared == 0 || !slices.Equal(part[:shared], folded[:shared]):
		case shared == len(part):
			return shared, false
		default:
			holds = true
		}
	}
	return 0, holds
}

// repositories says of the changes of one command which of them git would obey.
type repositories struct {
	disk    disk
	now     map[string]Change // by path
	bare    map[string]bare   // by folder
	refused map[string]bool   // repositories' folders that are refused whole
}

// bare is what a folder that is not named .git is to git.
type bare struct {
	before, after bool
	// completing is the name with which the changes make a repository of a folder
	// that has configuration of its own already.
	completing string
}

// judge is the finding about one change.
func (s *repositories) judge(c Change, parts, folded []string) (found Finding) {
	for i, name := range folded {
		if name == gitFolderName {
			found = stricter(found, s.inGit(c, parts, folded, i))
			continue
		}
		if slices.Contains(gitFirst, name) && !slices.Contains(folded[:i], gitFolderName) {
			found = stricter(found, s.inBare(c, parts, folded, i))
		}
	}
	return found
}

// inGit is about a path with a .git at i.
func (s *repositories) inGit(c Change, parts, folded []string, i int) Finding {
	folder := path.Join(parts[:i+1]...)
	whole := Finding{Refused, byGit, folder, false}
	if s.refused[folder] {
		return whole
	}
	if i < len(parts)-1 {
		return s.member(c, parts, folded, i+1)
	}
	if made := c.Was == Nothing && c.Is == Directory; made || c.Was == Directory && c.Is == Directory && !c.Whole {
		return Finding{}
	}
	s.refused[folder] = true
	return whole
}

// inBare is about a path in a folder that has a name of a repository at i.
func (s *repositories) inBare(c Change, parts, folded []string, i int) Finding {
	folder := path.Join(parts[:i]...)
	is := s.of(folder)
	switch {
	case !is.after:
		return Finding{}
	case is.completing != "" && Alike(is.completing, parts[i]):
		return Finding{Refused, byBecoming, path.Join(folder, parts[i]), false}
	}
	return s.member(c, parts, folded, i)
}

// member is about a path in a repository's folder, whose names begin at i.
func (s *repositories) member(c Change, parts, folded []string, i int) Finding {
	n, holds := obeyed(folded[i:])
	at := path.Join(parts[:min(i+max(n, 1), len(parts))]...)
	refused := Finding{Refused, byGit, at, false}
	switch {
	case n == 1 && folded[i] == "config" && len(parts) == i+1:
		return gitConfigChange(c, at)
	case n == 1 && len(parts) == i+1 && c.Was == Nothing && c.Is == Directory && slices.Contains(emptyParts, folded[i]):
		return Finding{} // what lies in it is judged by itself
	case n > 0, holds && c.replaces():
		return refused
	case c.Is == Link:
		return Finding{Refused, byLinkGit, path.Join(parts...), false}
	case folded[i] == "reftable" && c.Is != Nothing && (len(parts) > i+1 || c.Is != Directory):
		return Finding{Asked, byReftable, path.Join(parts[:i+1]...), false}
	case folded[i] == "packed-refs" && len(parts) == i+1 && replacedRefs(c):
		return refused
	}
	return Finding{}
}

// gitFirst are the first names of what is looked for in a bare repository.
var gitFirst = firstNames()

func firstNames() []string {
	first := []string{"head", "objects", "refs", "packed-refs"}
	for _, part := range gitParts {
		first = append(first, part[0])
	}
	return first
}

// of looks at a folder once.
func (s *repositories) of(folder string) bare {
	if known, ok := s.bare[folder]; ok {
		return known
	}
	before := func(name string) bool {
		if c, changed := s.now[path.Join(folder, name)]; changed {
			return c.Was != Nothing
		}
		return s.disk.has(path.Join(folder, name))
	}
	after := func(name string) bool {
		if c, changed := s.now[path.Join(folder, name)]; changed {
			return c.Is != Nothing
		}
		return s.disk.has(path.Join(folder, name))
	}
	is := bare{before: Rules{}.IsRepository(before), after: Rules{}.IsRepository(after)}
	if is.after && !is.before && slices.ContainsFunc(gitParts, func(part []string) bool { return before(path.Join(part...)) }) {
		for _, name := range []string{"HEAD", "commondir", "objects", "refs"} {
			if after(name) && !before(name) {
				is.completing = name
				break
			}
		}
	}
	s.bare[folder] = is
	return is
}
