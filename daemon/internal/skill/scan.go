package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

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
	roots      linkRoots
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
	root, err := openLinkRoot(s.at.Path)
	if s.exists = !watch.Missing(err); err != nil {
		s.unread(s.at.Path, err)
		return false
	}
	s.roots, s.real = linkRoots{root}, root.real
	if info, err := root.handle.Stat("."); err == nil {
		s.id = watch.KeyOf(info).Identity
	}
	for _, path := range s.at.Allow {
		if a, err := openLinkRoot(path); err == nil {
			s.roots = append(s.roots, a)
		}
	}
	if s.at.Bound == "" {
		return true
	}
	bound, err := filepath.EvalSymlinks(s.at.Bound)
	if err != nil {
		s.unread(s.at.Path, err)
		return false
	}
	_, inside := below(bound, root.real)
	if !inside {
		s.note("it is a link that leads out of %s, and is not followed", s.at.Bound)
	}
	return inside
}

// end gives the handles back.
func (s *scan) end() {
	for _, a := range s.roots {
		_ = a.handle.Close() // it was only read
	}
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
	real, info, err := s.look(path)
	f := finding{folder: at.as, file: name, home: at.real, real: real}
	switch {
	case watch.Missing(err) && real == path:
		return false
	case errors.Is(err, errEscape), errors.Is(err, errLoop):
		f.trouble = refusedLink(filepath.Join(at.as, name), err)
	case err != nil:
		f.trouble = unopened(err)
	case !info.Mode().IsRegular():
		f.trouble = noFile(info.Mode())
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

// look says what lies at a path of which at most the last step is a link, and where it
// really lies. It watches each link on the way before it follows it. In a workspace,
// whose links are somebody else's, it first finds out by the handle of the workspace
// that they stay in it: what lies outside is not even looked at.
func (s *scan) look(path string) (real string, info fs.FileInfo, err error) {
	info, err = os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, info, err
	}
	if s.at.Bound != "" {
		s.pass.Name(filepath.Dir(path), path)
		if err := s.roots[len(s.roots)-1].holds(path); err != nil {
			return "", nil, err
		}
	}
	s.pass.Path(path)
	if real, err = s.roots.follow(path); err == nil {
		info, err = os.Lstat(real)
	}
	return real, info, err
}

// list returns the folders to scan next.
func (s *scan) list(at step) (next []step) {
	var entries []fs.DirEntry
	f, err := s.roots.open(at.real)
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
			real, info, err := s.look(to.real)
			if _, inside := below(real, at.real); err == nil && inside {
				err = errLoop
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
	case errors.Is(err, errEscape):
		code, help = "link-escape", "Put a copy in its place, or move what it leads to into a folder of skills."
	case errors.Is(err, errLoop):
		code, help = "link-loop", "Remove the link."
	}
	return wrong(code, 0, 0, fmt.Sprintf("%s is a link that is not followed: %v", visible(link), visible(watch.Cause(err).Error())), help)
}
