package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/daemon/internal/places"
	"github.com/bothyd/bothy/daemon/internal/watch"
)

// How far a scan goes.
const (
	mostDepth   = 3         // levels below a folder on which skills are looked for
	mostFolders = 20_000    // in one folder of a tier
	mostText    = 256 << 20 // bytes of all SKILL.md in one: they are kept in memory
)

// fileName is what makes a folder a skill. Another case of it counts where this
// one is not.
const fileName = "SKILL.md"

// finding is a skill folder, or a link that should be one, as a scan sees it.
type finding struct {
	folder  string // as found: a link on the way is not followed here
	file    string // the name of its SKILL.md
	home    string // where the folder really lies
	real    string // where the file really lies
	key     watch.Key
	trouble *diagnostic // why the file cannot even be opened
}

// scan finds the skills of one Folder. It opens folders only.
type scan struct {
	at         Folder
	roots      places.Roots
	pass       *watch.Pass // is told of each folder before that is listed, and of each link on a way
	exists     bool
	real       string
	id         watch.Identity
	found      []finding
	unreadable []string // folders as found, of which nothing is known
	folders    int
	text       int64 // bytes of what is to be read
	problem    string
}

// step is a folder on the way.
type step struct {
	as    string // as found
	real  string // without links
	depth int
}

// run scans the folder and what lies below it, breadth first, so that the limit on
// folders leaves out the deepest.
func (s *scan) run() {
	if !s.enter() {
		return
	}
	for queue := []step{{s.at.Path, s.real, 0}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		s.pass.Folder(at.real)
		if at.depth == 0 || !s.skill(at, fileName) { // another case of the name is seen by list
			queue = append(queue, s.list(at)...)
		}
	}
}

// enter opens the roots.
func (s *scan) enter() bool {
	roots, err := s.at.Open()
	s.roots, s.exists = roots, !watch.Missing(err)
	if len(roots) > 0 {
		s.real = roots[0].Real
		if info, err := roots[0].Handle.Stat("."); err == nil {
			s.id = watch.KeyOf(info).Identity
		}
	}
	switch {
	case errors.Is(err, places.ErrEscape):
		s.note("it is a link that leads out of %s, and is not followed", s.at.Bound)
	case err != nil:
		s.unread(s.at.Path, err)
	}
	return err == nil
}

// unread notes that nothing is known of a folder, unless it is not there.
func (s *scan) unread(folder string, err error) {
	if !watch.Missing(err) {
		s.unreadable = append(s.unreadable, folder)
		s.note("cannot look into %s: %v", folder, watch.Cause(err))
	}
}

// note keeps the first problem; others are of the same kind as a rule.
func (s *scan) note(format string, args ...any) {
	if s.problem == "" {
		s.problem = fmt.Sprintf(format, args...)
	}
}

// skill takes the folder if it has a SKILL.md of this name.
func (s *scan) skill(at step, name string) bool {
	path := filepath.Join(at.real, name)
	real, info, err := s.roots.Look(s.pass, s.at.Bound != "", path)
	f := finding{folder: at.as, file: name, home: at.real, real: real}
	switch {
	case watch.Missing(err) && real == path:
		return false
	case errors.Is(err, places.ErrEscape), errors.Is(err, places.ErrLoop):
		f.trouble = refusedLink(filepath.Join(at.as, name), err)
	case err != nil:
		f.trouble = frontmatter.Unopened(err)
	case !info.Mode().IsRegular():
		f.trouble = frontmatter.NoFile(info.Mode())
	case info.Size() <= MaxFile && s.text+info.Size() > mostText:
		s.note("its SKILL.md files have more than %d MiB together, and the rest are not read; move out what is not needed", mostText>>20)
		return true
	default:
		f.key = watch.KeyOf(info)
		s.text += min(info.Size(), MaxFile)
	}
	s.found = append(s.found, f)
	return true
}

// list returns the folders to scan next.
func (s *scan) list(at step) (next []step) {
	var entries []fs.DirEntry
	f, err := s.roots.Open(at.real)
	if err == nil {
		entries, err = f.ReadDir(-1)
		_ = f.Close() // it was only read
	}
	if err != nil {
		s.unread(at.as, err)
		return nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) }) // so that each scan is the same
	for _, e := range entries {
		if at.depth > 0 && strings.EqualFold(e.Name(), fileName) && s.skill(at, e.Name()) {
			return nil
		}
	}
	for _, e := range entries {
		if e.Name()[0] == '.' || e.Name() == "node_modules" {
			continue
		}
		to := step{filepath.Join(at.as, e.Name()), filepath.Join(at.real, e.Name()), at.depth + 1}
		folder := e.IsDir()
		if e.Type()&fs.ModeSymlink != 0 {
			real, info, err := s.roots.Look(s.pass, s.at.Bound != "", to.real)
			if _, inside := places.Below(real, at.real); err == nil && inside {
				err = places.ErrLoop
			}
			if err != nil { // it is listed
				s.found = append(s.found, finding{folder: to.as, file: fileName, trouble: refusedLink(to.as, err)})
				continue
			}
			to.real, folder = real, info.IsDir()
		}
		if !folder {
			continue
		}
		switch {
		case to.depth > mostDepth:
			s.note("skills are looked for %d levels deep, and %s lies deeper; move what is in it up", mostDepth, to.as)
		case s.folders == mostFolders:
			s.note("it has more than %d folders, and the rest are not looked at; move out what are no skills", mostFolders)
		default:
			s.folders++
			next = append(next, to)
		}
	}
	return next
}

func refusedLink(link string, err error) *diagnostic {
	code, help := "link-broken", "Make the link anew, or remove it."
	switch {
	case errors.Is(err, places.ErrEscape):
		code, help = "link-escape", "Put a copy in its place, or move what it leads to into a folder of skills."
	case errors.Is(err, places.ErrLoop):
		code, help = "link-loop", "Remove the link."
	}
	return frontmatter.Wrong(code, 0, 0, fmt.Sprintf("%s is a link that is not followed: %v", frontmatter.Visible(link), frontmatter.Visible(watch.Cause(err).Error())), help)
}
