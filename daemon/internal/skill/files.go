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

	"github.com/bothyd/bothy/daemon/internal/frontmatter"
	"github.com/bothyd/bothy/daemon/internal/watch"
	"github.com/bothyd/bothy/sdk"
)

// Limits on the folder of a skill: what is beyond them is no skill but a
// project, and whoever trusts it could not look at it.
const (
	MaxFiles = 1000
	MaxBytes = 25 << 20 // of all files together
	MaxPath  = 4 << 10  // bytes of a file's relative path
	maxSeen  = 4 * MaxFiles

	maxSkipped = 20 // paths that are named of those left out
	maxNamed   = 50 // files that are named of a copy
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
	w := walk{}
	if err := w.all(folder); err != nil {
		return nil, 0, err
	}
	defer w.end()
	for _, x := range w.found {
		paths = append(paths, x.path)
	}
	return paths, w.beyond, nil
}

// found is a file as it was when the folder was walked.
type found struct {
	path string
	info fs.FileInfo // of what a link leads to
}

// read is what the file holds, when it still is what was found. It never waits: what
// became a pipe meanwhile is no file any more.
func (x found) read(root *os.Root) ([]byte, error) {
	f, err := root.OpenFile(x.path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && os.SameFile(info, x.info) {
		content, err := io.ReadAll(io.LimitReader(f, x.info.Size()+1))
		if err != nil { // half a file is none that is left out
			return nil, sdk.Errorf(sdk.Unavailable, "%q cannot be read: %w", x.path, err)
		}
		if int64(len(content)) == x.info.Size() {
			return content, nil
		}
	}
	return nil, sdk.Errorf(sdk.Conflict, "%q changed while the skill's folder was read; try again", x.path)
}

// walk finds the files of a folder, the folders above first. It never leaves
// the folder and opens nothing but folders.
type walk struct {
	strict bool             // what cannot be part of a skill is an error, and otherwise left out
	enter  func(dir string) // is called before a folder is read; nil is nothing

	root    *os.Root
	found   []found
	size    int64
	seen    int // names, whatever they stand for
	beyond  int // files over the limits
	skipped []string
}

// all opens the folder and fills found, ordered by path. Without an error the root
// is open until end.
func (w *walk) all(folder string) (err error) {
	w.root, err = os.OpenRoot(folder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return sdk.Errorf(sdk.NotFound, "the skill's folder is gone: %w", err)
	case err != nil:
		return sdk.Errorf(sdk.Unavailable, "the skill's folder cannot be opened: %w", err)
	}
	for dirs := []string{"."}; len(dirs) > 0 && err == nil; dirs = dirs[1:] {
		var below []string
		below, err = w.folder(dirs[0])
		dirs = append(dirs, below...)
	}
	if err != nil {
		w.end()
	}
	slices.SortFunc(w.found, func(a, b found) int { return strings.Compare(a.path, b.path) })
	return err
}

func (w *walk) end() { _ = w.root.Close() } // it was only read

// folder visits what is in a folder, in order, and returns the folders among it. No
// more names are read than can count.
func (w *walk) folder(dir string) (dirs []string, err error) {
	if w.enter != nil {
		w.enter(dir)
	}
	var names []string
	f, err := w.root.OpenFile(dir, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0)
	if err == nil {
		names, err = f.Readdirnames(maxSeen + 1 - w.seen)
		_ = f.Close() // it was only read
	}
	if w.seen += len(names); w.seen > maxSeen {
		w.beyond += len(names)
		return nil, w.leave(dir, fmt.Sprintf("holds more than can be looked at: a skill may have %d files", MaxFiles))
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, w.leave(dir, "cannot be read: "+watch.Cause(err).Error())
	}
	slices.Sort(names)
	for _, name := range names {
		at := path.Join(dir, name)
		folder, why := w.visit(at)
		if folder {
			dirs = append(dirs, at)
		}
		if why != "" {
			if err := w.leave(at, why); err != nil {
				return nil, err
			}
		}
	}
	return dirs, nil
}

// visit takes what stands at a path when it is a file, and says why when it is neither
// that nor a folder, or cannot be shown and stored as it is.
func (w *walk) visit(at string) (folder bool, why string) {
	info, err := w.root.Lstat(at)
	link := err == nil && info.Mode()&fs.ModeSymlink != 0
	if link {
		info, err = w.root.Stat(at)
	}
	switch {
	case len(at) > MaxPath:
		return false, fmt.Sprintf("has a path of more than %d bytes", MaxPath)
	case !utf8.ValidString(at):
		return false, "has a name that is no UTF-8"
	case strings.ContainsFunc(at, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) }):
		return false, "has a name with control characters"
	case err != nil && link:
		return false, "is a link that leads out of the skill's folder, or nowhere"
	case err != nil:
		return false, "cannot be looked at: " + watch.Cause(err).Error()
	case info.IsDir() && link:
		return false, "is a link to a folder: put the files themselves there"
	case info.IsDir():
		return true, ""
	case !info.Mode().IsRegular():
		return false, "is no file but " + frontmatter.TypeOf(info.Mode())
	case len(w.found) == MaxFiles:
		w.beyond++
		return false, fmt.Sprintf("is one file too many: a skill may have %d", MaxFiles)
	case w.size+info.Size() > MaxBytes:
		w.beyond++
		return false, fmt.Sprintf("is too large: the files of a skill may have %d MiB together", MaxBytes>>20)
	}
	w.size += info.Size()
	w.found = append(w.found, found{at, info})
	return false, ""
}

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
