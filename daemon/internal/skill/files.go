package skill

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// Limits on the folder of a skill: what is beyond them is no skill but a
// project, and whoever trusts it could not look at it.
const (
	MaxFiles = 1000
	MaxBytes = 25 << 20 // of all files together
	maxPath  = 4 << 10  // bytes of a file's relative path
	maxSeen  = 4 * MaxFiles
)

// File is one file of a skill's folder.
type File struct {
	Path       string `json:"path"` // relative to the folder, with slashes
	Size       int64  `json:"size"`
	Executable bool   `json:"executable,omitempty"`
	Script     bool   `json:"-"`              // can be executed, or begins with #!
	Hash       string `json:"hash"`           // hex SHA-256 of what it holds
	Text       string `json:"text,omitempty"` // what it holds, where that was asked for and is text
}

// Files lists the files of a folder by path, up to MaxFiles; more is how many
// beside them were seen. What is no file, and links that lead out of the
// folder, are left out. None of them is opened.
func Files(folder string) (paths []string, more int, err error) {
	root, err := openFolder(folder)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = root.Close() }()
	w := walk{root: root}
	if err := w.all(); err != nil {
		return nil, 0, err
	}
	for _, x := range w.found {
		paths = append(paths, x.path)
	}
	return paths, w.beyond, nil
}

func openFolder(folder string) (*os.Root, error) {
	root, err := os.OpenRoot(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, sdk.Errorf(sdk.NotFound, "the skill's folder is gone: %w", err)
	}
	if err != nil {
		return nil, sdk.Errorf(sdk.Unavailable, "the skill's folder cannot be opened: %w", err)
	}
	return root, nil
}

// found is a file as it was when the folder was walked.
type found struct {
	path string
	info fs.FileInfo // of what a link leads to
}

// open opens it when it still is what was found. It never waits: what became a
// pipe meanwhile is no file any more.
func (x found) open(root *os.Root) (*os.File, error) {
	f, err := root.OpenFile(x.path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && (!info.Mode().IsRegular() || !os.SameFile(info, x.info)) {
		err = x.changed()
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (x found) changed() error {
	return sdk.Errorf(sdk.Conflict, "%q changed while the skill's folder was read; try again", x.path)
}

// walk finds the files of a folder, the folders above first. It never leaves
// the folder and opens nothing but folders.
type walk struct {
	root   *os.Root
	strict bool             // what cannot be part of a skill is an error, and otherwise left out
	enter  func(dir string) // is called before a folder is read; nil is nothing

	found   []found
	size    int64
	seen    int // names, whatever they stand for
	beyond  int // files over the limits
	skipped []string
}

// all fills found, ordered by path.
func (w *walk) all() error {
	for dirs := []string{"."}; len(dirs) > 0; dirs = dirs[1:] {
		names, err := w.names(dirs[0])
		if err != nil {
			return err
		}
		for _, name := range names {
			at := path.Join(dirs[0], name)
			folder, err := w.visit(at)
			if err != nil {
				return err
			}
			if folder {
				dirs = append(dirs, at)
			}
		}
	}
	slices.SortFunc(w.found, func(a, b found) int { return strings.Compare(a.path, b.path) })
	return nil
}

// names are those in a folder, in order. No more are read than can count.
func (w *walk) names(dir string) ([]string, error) {
	if w.enter != nil {
		w.enter(dir)
	}
	f, err := w.root.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, w.leave(dir, "cannot be read: "+watch.Cause(err).Error())
	}
	defer func() { _ = f.Close() }()
	var names []string
	for {
		part, err := f.Readdirnames(256)
		names = append(names, part...)
		if w.seen += len(part); w.seen > maxSeen {
			w.beyond += len(names)
			return nil, w.leave(dir, fmt.Sprintf("holds more than can be looked at: a skill may have %d files", MaxFiles))
		}
		switch {
		case errors.Is(err, io.EOF):
			slices.Sort(names)
			return names, nil
		case err != nil:
			return nil, w.leave(dir, "cannot be read: "+watch.Cause(err).Error())
		}
	}
}

// visit says what stands at a path, and takes it when it is a file.
func (w *walk) visit(at string) (folder bool, err error) {
	if why := badPath(at); why != "" {
		return false, w.leave(at, why)
	}
	info, err := w.root.Lstat(at)
	if err != nil {
		return false, w.leave(at, "cannot be looked at: "+watch.Cause(err).Error())
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if info, err = w.root.Stat(at); err != nil {
			return false, w.leave(at, "is a link that leads out of the skill's folder, or nowhere")
		}
		if info.IsDir() {
			return false, w.leave(at, "is a link to a folder: put the files themselves there")
		}
	}
	switch {
	case info.IsDir():
		return true, nil
	case !info.Mode().IsRegular():
		return false, w.leave(at, "is no file but "+typeOf(info.Mode()))
	case len(w.found) == MaxFiles:
		w.beyond++
		return false, w.leave(at, fmt.Sprintf("is one file too many: a skill may have %d", MaxFiles))
	case w.size+info.Size() > MaxBytes:
		w.beyond++
		return false, w.leave(at, fmt.Sprintf("is too large: the files of a skill may have %d MiB together", MaxBytes>>20))
	}
	w.size += info.Size()
	w.found = append(w.found, found{at, info})
	return false, nil
}

// maxSkipped is how many paths are named that are left out.
const maxSkipped = 20

// leave leaves a path out, or refuses the folder because of it.
func (w *walk) leave(at, why string) error {
	if w.strict {
		return sdk.Errorf(sdk.Validation, "%q %s", at, why)
	}
	if len(w.skipped) < maxSkipped {
		w.skipped = append(w.skipped, fmt.Sprintf("%q %s", at, why))
	}
	return nil
}

// badPath says what keeps a path from being shown and stored as it is.
func badPath(at string) string {
	switch {
	case len(at) > maxPath:
		return fmt.Sprintf("has a path of more than %d bytes", maxPath)
	case !utf8.ValidString(at):
		return "has a name that is no UTF-8"
	case strings.ContainsFunc(at, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return "has a name with control characters"
	}
	return ""
}
