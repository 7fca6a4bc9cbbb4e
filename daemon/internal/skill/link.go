package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/daemon/internal/watch"
)

// mostLinks is how many symbolic links are followed on one way; the kernel
// takes 40.
const mostLinks = 40

// area is a folder tree in which links may lead. All reading goes through its
// handle, which no link leaves whatever changes meanwhile.
type area struct {
	given string // as it is written
	real  string // with all links resolved
	root  *os.Root
}

// openArea returns nil when the folder is not there.
func openArea(path string) (*area, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	return &area{given: filepath.Clean(path), real: real, root: root}, nil
}

// rel is the path below the area, or false when it is not in it.
func (a *area) rel(real string) (string, bool) { return below(a.real, real) }

// below is what path is relative to folder, "." for itself.
func below(folder, path string) (string, bool) {
	if path == folder {
		return ".", true
	}
	if folder == string(filepath.Separator) {
		return path[1:], true
	}
	return strings.CutPrefix(path, folder+string(filepath.Separator))
}

// spot is a place in an area.
type spot struct {
	area *area
	rel  string
}

func (s spot) path() string {
	if s.rel == "." {
		return s.area.real
	}
	return strings.TrimSuffix(s.area.real, string(filepath.Separator)) + string(filepath.Separator) + s.rel
}

// join is a place below, by the name of an entry.
func (s spot) join(name string) spot {
	if s.rel == "." {
		return spot{s.area, name}
	}
	return spot{s.area, s.rel + string(filepath.Separator) + name}
}

// lstat goes by the path, which costs a fifth: what it says is checked again by
// who opens.
func (s spot) lstat() (fs.FileInfo, error) { return os.Lstat(s.path()) }

// open opens for reading what lstat called a folder or a regular file. It waits
// for nothing and follows no link, should it be something else by now.
func (s spot) open() (*os.File, error) {
	return s.area.root.OpenFile(s.rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
}

// Why a link is not followed.
var (
	errEscape = errors.New("it leads out of the folders that are allowed")
	errLoop   = errors.New("it leads back to itself")
)

// areas are where links of one folder may lead; the first is that folder.
type areas []*area

// locate finds the area of a path whose links are resolved.
func (as areas) locate(real string) (spot, bool) {
	for _, a := range as {
		if rel, ok := a.rel(real); ok {
			return spot{a, rel}, true
		}
	}
	return spot{}, false
}

// spell puts the real path of an area in the place of the written one.
func (as areas) spell(path string) string {
	for _, a := range as {
		if rel, ok := below(a.given, path); ok {
			return a.real + string(filepath.Separator) + rel // a .. in it is for follow to take
		}
	}
	return path
}

// above reports whether an area lies below path, which is then no link: areas
// are real paths.
func (as areas) above(path string) bool {
	for _, a := range as {
		if _, ok := below(path, a.real); ok {
			return true
		}
	}
	return false
}

// follow resolves the symbolic link at s as the kernel would, step by step, and
// touches nothing outside of the areas on the way. It calls passed for each
// link, which could be turned elsewhere.
func (as areas) follow(s spot, passed func(link spot)) (spot, error) {
	at, rest := filepath.Dir(s.path()), []string{filepath.Base(s.path())}
	for links := 0; len(rest) > 0; {
		next := rest[0]
		rest = rest[1:]
		if next == ".." {
			at = filepath.Dir(at)
			continue
		}
		step := filepath.Join(at, next)
		here, inside := as.locate(step)
		if !inside {
			if !as.above(step) {
				return spot{}, fmt.Errorf("%w: %s", errEscape, step)
			}
			at = step
			continue
		}
		info, err := here.lstat()
		if err != nil {
			return spot{}, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = step
			continue
		}
		passed(here)
		if links++; links > mostLinks {
			return spot{}, errLoop
		}
		target, err := here.area.root.Readlink(here.rel)
		if err != nil {
			return spot{}, err
		}
		if filepath.IsAbs(target) {
			at, target = string(filepath.Separator), as.spell(target)
		}
		rest = append(watch.Steps(target), rest...)
	}
	end, inside := as.locate(at)
	if !inside {
		return spot{}, fmt.Errorf("%w: %s", errEscape, at)
	}
	return end, nil
}
