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

// run scans the folder and what lies below it, breadth first, so that the limit on folders leaves out the deepest.
func (s *scan) run() {
	if !s.enter() {
		return
	}
	for queue := []step{{s.at.Path, s.real, 0}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		s.pass.Folder(at.real)
		if at.depth == 0 || !s.skill(at) {
			queue = append(queue, s.list(at)...)
		}
	}
}

// enter opens the roots.
func (s *scan) enter() bool {
	root, err := openLinkRoot(s.at.Path)
	if err != nil {
		if !watch.Missing(err) {
			s.exists = true
			s.noteUnreadable(s.at.Path, err)
		}
		return false
	}
	s.roots = linkRoots{root}
	s.exists, s.real = true, root.real
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
		s.noteUnreadable(s.at.Path, err)
		return false
	}
	if _, inside := below(bound, root.real); !inside {
		s.note(fmt.Sprintf("it is a link that leads out of %s, and is not followed", s.at.Bound))
		return false
	}
	return true
}

// end gives the handles back. Spots of the scan are dead then.
func (s *scan) end() {
	for _, a := range s.roots {
		_ = a.handle.Close() // it was only read
	}
}

// noteUnreadable notes that nothing is known of a folder.
func (s *scan) noteUnreadable(folder string, err error) {
	s.unreadable = append(s.unreadable, folder)
	s.note(fmt.Sprintf("cannot look into %s: %v", folder, watch.Cause(err)))
}

// note keeps the first problem; others are of the same kind as a rule.
func (s *scan) note(problem string) {
	if s.problem == "" {
		s.problem = problem
	}
}

// skill takes the folder if it has a SKILL.md. Another case of the name is seen by
// list.
func (s *scan) skill(at step) bool {
	info, err := os.Lstat(filepath.Join(at.real, fileName))
	if watch.Missing(err) {
		return false
	}
	s.take(at, fileName, info, err)
	return true
}

func (s *scan) take(at step, name string, info fs.FileInfo, err error) {
	f := finding{folder: at.as, file: name, home: at.real, real: filepath.Join(at.real, name)}
	if err == nil && info.Mode()&fs.ModeSymlink != 0 {
		if f.real, err = s.follow(f.real); err == nil {
			s.pass.Folder(filepath.Dir(f.real))
			info, err = os.Lstat(f.real)
		}
	}
	switch {
	case errors.Is(err, errEscape), errors.Is(err, errLoop):
		f.trouble = refusedLink(filepath.Join(at.as, name), err)
	case err != nil:
		f.trouble = unopened(err)
	case !info.Mode().IsRegular():
		f.trouble = noFile(info.Mode())
	case info.Size() <= MaxFile && s.text+info.Size() > mostText:
		s.note(fmt.Sprintf("its SKILL.md files have more than %d MiB together, and the rest are not read; move out what is not needed", mostText>>20))
		return
	default:
		f.key = watch.KeyOf(info)
		s.text += min(info.Size(), MaxFile)
	}
	s.found = append(s.found, f)
}

// follow watches each link on the way before it follows it. In a workspace, whose
// links are somebody else's, it first finds out by the handle of the workspace
// that they stay in it: what lies outside is not even looked at.
func (s *scan) follow(link string) (real string, err error) {
	if s.at.Bound != "" {
		s.pass.Name(filepath.Dir(link), link)
		if err := s.roots[len(s.roots)-1].holds(link); err != nil {
			return "", err
		}
	}
	s.pass.Path(link)
	return s.roots.follow(link)
}

// list returns the folders to scan next.
func (s *scan) list(at step) []step {
	entries, err := s.entries(at)
	if err != nil {
		if !watch.Missing(err) {
			s.noteUnreadable(at.as, err)
		}
		return nil
	}
	if at.depth > 0 {
		for _, e := range entries {
			if strings.EqualFold(e.Name(), fileName) {
				info, err := os.Lstat(filepath.Join(at.real, e.Name()))
				s.take(at, e.Name(), info, err)
				return nil
			}
		}
	}
	var next []step
	for _, e := range entries {
		if skipped(e.Name()) || !e.IsDir() && e.Type()&fs.ModeSymlink == 0 {
			continue
		}
		to, ok := step{filepath.Join(at.as, e.Name()), filepath.Join(at.real, e.Name()), at.depth + 1}, true
		if !e.IsDir() {
			to.real, ok = s.linked(at, to)
		}
		if ok && s.room(to) {
			next = append(next, to)
		}
	}
	return next
}

// entries are those of a folder by name, which makes a scan the same each time.
func (s *scan) entries(at step) ([]fs.DirEntry, error) {
	f, err := s.roots.open(at.real)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	entries, err := f.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return entries, err
}

// skipped reports whether a folder is never scanned.
func skipped(name string) bool {
	return strings.HasPrefix(name, ".") || name == "node_modules"
}

// room reports whether the limits leave room for one more folder.
func (s *scan) room(to step) bool {
	if to.depth > mostDepth {
		s.note(fmt.Sprintf("skills are looked for %d levels deep, and %s lies deeper; move what is in it up", mostDepth, to.as))
		return false
	}
	if s.folders++; s.folders > mostFolders {
		s.note(fmt.Sprintf("it has more than %d folders, and the rest are not looked at; move out what are no skills", mostFolders))
		return false
	}
	return true
}

// linked follows a link to a folder. One that leads elsewhere is nothing to us,
// one that may not be followed is listed.
func (s *scan) linked(at, link step) (real string, ok bool) {
	real, err := s.follow(link.real)
	if err == nil {
		var info fs.FileInfo
		if info, err = os.Lstat(real); err == nil && !info.IsDir() {
			return "", false
		}
	}
	if _, inside := below(real, at.real); err == nil && inside {
		err = errLoop
	}
	if err != nil {
		s.found = append(s.found, finding{folder: link.as, file: fileName, trouble: refusedLink(link.as, err)})
	}
	return real, err == nil
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
