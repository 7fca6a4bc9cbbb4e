package places

import (
	"cmp"
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

// Root is a folder tree in which links may lead. All reading goes through its
// handle, which no link leaves whatever changes meanwhile; Lstat goes by the path,
// which costs a fifth: what it says is checked again by who opens.
type Root struct {
	Real   string // with all links resolved
	Handle *os.Root
}

// openRoot is an error when the folder is not there.
func openRoot(path string) (*Root, error) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return nil, err
	}
	handle, err := os.OpenRoot(real)
	if err != nil {
		return nil, err
	}
	return &Root{real, handle}, nil
}

// Holds says whether the way by a link stays in the folder, which its handle
// finds out without a step outside. The link itself may be absolute: what is behind
// the folder's path in it is for the handle to resolve, since .. behind another link
// leads elsewhere than its letters say.
func (a *Root) Holds(link string) error {
	if target, err := os.Readlink(link); err == nil && filepath.IsAbs(target) {
		link = target
	}
	rel, inside := Below(a.Real, link)
	if !inside {
		return fmt.Errorf("%w: %s", ErrEscape, link)
	}
	_, err := a.Handle.Stat(cmp.Or(strings.TrimLeft(rel, "/"), "."))
	switch {
	case errors.Is(err, syscall.ELOOP):
		return ErrLoop
	case err != nil && strings.Contains(err.Error(), "escapes"):
		return ErrEscape
	}
	return err
}

// Below is what path is relative to folder, "." for itself.
func Below(folder, path string) (string, bool) {
	if path == folder {
		return ".", true
	}
	return strings.CutPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// Why a link is not followed.
var (
	ErrEscape = errors.New("it leads out of the folders that are allowed")
	ErrLoop   = errors.New("it leads back to itself")
)

// Roots are where links of one folder may lead; the first is that folder.
type Roots []*Root

// Follow is where the symbolic link at a path leads. What lies outside of the
// roots is not opened.
func (as Roots) Follow(link string) (real string, err error) {
	if _, err := os.Stat(link); errors.Is(err, syscall.ELOOP) {
		return "", ErrLoop
	}
	real, err = filepath.EvalSymlinks(link)
	if err == nil && !slices.ContainsFunc(as, func(a *Root) bool { _, in := Below(a.Real, real); return in }) {
		err = fmt.Errorf("%w: %s", ErrEscape, real)
	}
	return real, err
}

// Open opens for reading what Lstat called a folder or a regular file, at a path
// without links. It waits for nothing and follows no link, should it be something
// else by now.
func (as Roots) Open(real string) (*os.File, error) {
	for _, a := range as {
		if rel, in := Below(a.Real, real); in {
			return a.Handle.OpenFile(rel, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
		}
	}
	return nil, ErrEscape
}

// Look says what lies at a path of which at most the last step is a link, and where it
// really lies. It watches each link on the way before it follows it. Where the links are
// somebody else's, as in a workspace, they are bounded: the handle of the last root finds out
// first that they stay in it, and what lies outside is not even looked at.
func (as Roots) Look(pass *watch.Pass, bounded bool, path string) (real string, info fs.FileInfo, err error) {
	info, err = os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return path, info, err
	}
	if bounded {
		pass.Name(filepath.Dir(path), path)
		if err := as[len(as)-1].Holds(path); err != nil {
			return "", nil, err
		}
	}
	pass.Path(path)
	if real, err = as.Follow(path); err == nil {
		info, err = os.Lstat(real)
	}
	return real, info, err
}

// Close gives the handles back.
func (as Roots) Close() {
	for _, a := range as {
		_ = a.Handle.Close() // it was only read
	}
}
