package skill

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/daemon/internal/watch"
)

// mostLinks is how many symbolic links are followed on one way; the kernel
// takes 40.
const mostLinks = 40

// linkRoot is a folder tree in which links may lead. All reading goes through its
// handle, which no link leaves whatever changes meanwhile.
type linkRoot struct {
	given  string // as it is written
	real   string // with all links resolved
	handle *os.Root
}

// openLinkRoot returns nil when the folder is not there.
func openLinkRoot(path string) (*linkRoot, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	handle, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	return &linkRoot{given: filepath.Clean(path), real: real, handle: handle}, nil
}

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

// location is a place in a linkRoot.
type location struct {
	root *linkRoot
	rel  string
}

func (l location) path() string {
	if l.rel == "." {
		return l.root.real
	}
	return strings.TrimSuffix(l.root.real, string(filepath.Separator)) + string(filepath.Separator) + l.rel
}

// join is a place below, by the name of an entry.
func (l location) join(name string) location {
	if l.rel == "." {
		return location{l.root, name}
	}
	return location{l.root, l.rel + string(filepath.Separator) + name}
}

// lstat goes by the path, which costs a fifth: what it says is checked again by
// who opens.
func (l location) lstat() (fs.FileInfo, error) { return os.Lstat(l.path()) }

// open opens for reading what lstat called a folder or a regular file. It waits
// for nothing and follows no link, should it be something else by now.
func (l location) open() (*os.File, error) {
	return l.root.handle.OpenFile(l.rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
}

// Why a link is not followed.
var (
	errEscape = errors.New("it leads out of the folders that are allowed")
	errLoop   = errors.New("it leads back to itself")
)

// linkRoots are where links of one folder may lead; the first is that folder.
type linkRoots []*linkRoot

// locate finds the root of a path whose links are resolved.
func (as linkRoots) locate(real string) (location, bool) {
	for _, a := range as {
		if rel, ok := below(a.real, real); ok {
			return location{a, rel}, true
		}
	}
	return location{}, false
}

// spell puts the real path of a root in the place of the written one.
func (as linkRoots) spell(path string) string {
	for _, a := range as {
		if rel, ok := below(a.given, path); ok {
			return a.real + string(filepath.Separator) + rel // a .. in it is for follow to take
		}
	}
	return path
}

// above reports whether a root lies below path, which is then no link: roots are
// real paths.
func (as linkRoots) above(path string) bool {
	return slices.ContainsFunc(as, func(a *linkRoot) bool { _, ok := below(path, a.real); return ok })
}

// follow resolves the symbolic link at s as the kernel would, step by step, and
// touches nothing outside of the roots on the way. It calls passed for each
// link, which could be turned elsewhere.
func (as linkRoots) follow(s location, passed func(link location)) (location, error) {
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
				return location{}, fmt.Errorf("%w: %s", errEscape, step)
			}
			at = step
			continue
		}
		info, err := here.lstat()
		if err != nil {
			return location{}, err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			at = step
			continue
		}
		passed(here)
		if links++; links > mostLinks {
			return location{}, errLoop
		}
		target, err := here.root.handle.Readlink(here.rel)
		if err != nil {
			return location{}, err
		}
		if filepath.IsAbs(target) {
			at, target = string(filepath.Separator), as.spell(target)
		}
		rest = append(watch.Steps(target), rest...)
	}
	end, inside := as.locate(at)
	if !inside {
		return location{}, fmt.Errorf("%w: %s", errEscape, at)
	}
	return end, nil
}
