package markdown

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/daemon/internal/watch"
)

// How far one folder is looked through.
const (
	mostDepth   = 3 // levels below it
	mostFolders = 2000
	mostFiles   = 2000
	mostText    = 64 << 20 // bytes of all files together: they are kept in memory
)

// index is the agents' files of one folder. A scan reads only those that changed since the
// scan before.
type index struct {
	at      places.Folder
	entries map[string]entry // by path as found
	files   []*File          // by path
	problem string           // why not all is looked at
}

// entry is a file as it was read last.
type entry struct {
	key  watch.Key
	sure bool // an equal key means an equal content
	file *File
}

// scan is one look through a folder.
type scan struct {
	*index
	pass   *watch.Pass
	now    time.Time
	settle time.Duration // how long a file must not have changed to be whole

	roots    places.Roots
	next     map[string]entry
	folders  int
	text     int64
	unstable bool // something may be half written
}

// step is a folder on the way.
type step struct {
	as    string // as found
	real  string // without links
	depth int
}

// scan brings the index up to what is on disk, and reports whether that may be half done.
func (x *index) scan(pass *watch.Pass, now time.Time, settle time.Duration) (unstable bool) {
	s := scan{index: x, pass: pass, now: now, settle: settle, next: map[string]entry{}}
	x.problem = ""
	pass.Path(x.at.Path)
	var err error
	s.roots, err = x.at.Open()
	defer func() { s.roots.Close() }()
	switch {
	case err != nil && !watch.Missing(err):
		s.note("cannot look into %s: %v", x.at.Path, watch.Cause(err))
	case err == nil:
		if kind := watch.Remote(s.roots[0].Real); kind != "" {
			pass.Unwatchable()
		}
		for queue := []step{{x.at.Path, s.roots[0].Real, 0}}; len(queue) > 0; queue = queue[1:] {
			queue = append(queue, s.folder(queue[0])...)
		}
	}
	x.entries, x.files = s.next, nil
	for _, e := range s.next {
		x.files = append(x.files, e.file)
	}
	slices.SortFunc(x.files, func(a, b *File) int { return strings.Compare(a.Path, b.Path) })
	return s.unstable
}

// look is a scan of a folder that nobody follows.
func (x *index) look() { x.scan(&watch.Pass{Last: true}, time.Now(), 0) }

// note keeps the first problem; others are of the same kind as a rule.
func (s *scan) note(format string, args ...any) {
	if s.problem == "" {
		s.problem = frontmatter.Visible(fmt.Sprintf(format, args...))
	}
}

// folder takes the files of a folder, and returns the folders in it.
func (s *scan) folder(at step) (below []step) {
	s.pass.Folder(at.real)
	f, err := s.roots.Open(at.real)
	if err != nil {
		s.note("cannot look into %s: %v", at.as, watch.Cause(err))
		return nil
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && watch.KeyOf(info).Moving(s.now, s.settle) {
		s.unstable = true // an editor may have moved a file away for a moment
	}
	names, err := f.Readdirnames(mostNames)
	if len(names) == mostNames {
		s.note("%s holds more than %d names, and the rest are not looked at; move out what are no agents", at.as, mostNames)
	} else if err != nil && len(names) == 0 && !errors.Is(err, io.EOF) {
		s.note("cannot look into %s: %v", at.as, watch.Cause(err))
	}
	slices.Sort(names)
	for _, name := range names {
		to := step{filepath.Join(at.as, name), filepath.Join(at.real, name), at.depth + 1}
		if name[0] == '.' || name == "node_modules" {
			continue
		}
		real, info, err := s.roots.Look(s.pass, s.at.Bound != "", to.real)
		switch {
		case err == nil && info.IsDir():
			if _, inside := places.Below(real, at.real); inside {
				continue // a link back
			}
			if to.real = real; to.depth > mostDepth {
				s.note("agents are looked for %d levels deep, and %s lies deeper; move what is in it up", mostDepth, to.as)
				continue
			}
			if s.folders++; s.folders > mostFolders {
				s.note("it has more than %d folders, and the rest are not looked at; move out what are no agents", mostFolders)
				continue
			}
			below = append(below, to)
		case isAgent(name) && len(s.next) >= mostFiles:
			s.note("it has more than %d files, and the rest are not read; move out what is not needed", mostFiles)
			return below
		case isAgent(name):
			s.take(to.as, real, info, err)
		}
	}
	return below
}

// mostNames is how many names are read in one folder.
const mostNames = 4 * mostFiles

// isAgent reports whether a file's name is that of an agent.
func isAgent(name string) bool {
	lower := strings.ToLower(name)
	return strings.HasSuffix(lower, ".md") && !slices.Contains([]string{"readme.md", "agents.md", "claude.md", "gemini.md", "changelog.md", "contributing.md", "license.md", "index.md"}, lower)
}

// take reads a file that was found, unless it is as it was.
func (s *scan) take(path, real string, info fs.FileInfo, err error) {
	switch {
	case watch.Missing(err) && real == path: // it went while the folder was read
		return
	case errors.Is(err, places.ErrEscape), errors.Is(err, places.ErrLoop):
		s.refuse(path, frontmatter.Wrong("link", 1, 1, "it is a link that is not followed: "+frontmatter.Visible(watch.Cause(err).Error()), "Put a copy in its place."))
		return
	case err != nil:
		s.refuse(path, frontmatter.Unopened(err))
		return
	case !info.Mode().IsRegular():
		s.refuse(path, frontmatter.NoFile(info.Mode()))
		return
	case s.text+info.Size() > mostText && info.Size() <= MaxFile:
		s.note("its files have more than %d MiB together, and the rest are not read; move out what is not needed", mostText>>20)
		return
	}
	key, was := watch.KeyOf(info), s.entries[path]
	s.text += min(info.Size(), MaxFile)
	if was.file != nil && was.key == key && was.sure {
		s.next[path] = was
		return
	}
	if was.key != key && key.Moving(s.now, s.settle) {
		s.unstable = true
	}
	s.read(path, real, key)
}

// read reads a file whose key was this one when it was found.
func (s *scan) read(path, real string, key watch.Key) {
	f, err := s.roots.Open(real)
	if err != nil {
		s.refuse(path, frontmatter.Unopened(err))
		return
	}
	defer f.Close()
	text, fault := frontmatter.Read(f, MaxFile)
	if fault != nil {
		s.refuse(path, fault)
		return
	}
	if info, err := f.Stat(); err != nil || watch.KeyOf(info) != key { // it changed meanwhile
		s.unstable = true
	}
	s.put(path, entry{key: key, sure: key.Sure(s.now), file: Parse(text, path)})
}

// refuse keeps a file of which nothing is known but why.
func (s *scan) refuse(path string, why *frontmatter.Diagnostic) {
	s.put(path, entry{file: unread(path, why)})
}

// put keeps a file; what is as before stays the same one, which others may be reading.
func (s *scan) put(path string, e entry) {
	e.file.Tier, e.file.Root = s.at.Tier, s.at.Path
	if was := s.entries[path].file; was != nil && was.Hash == e.file.Hash && slices.Equal(was.Diagnostics, e.file.Diagnostics) {
		e.file = was
	}
	s.next[path] = e
}
