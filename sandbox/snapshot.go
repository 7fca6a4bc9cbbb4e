package sandbox

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

const (
	// snapshotBytes and snapshotEntries bound what is kept of one protected
	// path to restore it. Beyond, a change is reported but not undone.
	snapshotBytes   = 8 * mib
	snapshotEntries = 2000
)

var errTooLarge = errors.New("too large to keep a copy of")

// node is one file, directory or link of a snapshot.
type node struct {
	path   string
	mode   fs.FileMode
	size   int64
	time   time.Time
	unique string
	target string
	data   []byte
}

// same compares everything that the kernel changes with the content.
func (n node) same(o node) bool {
	return n.path == o.path && n.mode == o.mode && n.unique == o.unique && n.target == o.target &&
		(n.mode.IsDir() || n.size == o.size && n.time.Equal(o.time))
}

// snapshot is a protected path as it was: the path itself comes first, parents
// before what lies in them. An empty one is a path that does not exist.
type snapshot []node

// takeSnapshot reads a path, with content when keep is set. Content is taken
// over from an earlier snapshot where nothing changed.
func takeSnapshot(root *os.Root, path string, earlier snapshot, keep bool) (snapshot, error) {
	before := make(map[string]node, len(earlier))
	for _, n := range earlier {
		before[n.path] = n
	}
	var out snapshot
	var total int64
	err := fs.WalkDir(root.FS(), filepath.ToSlash(path), func(at string, entry fs.DirEntry, err error) error {
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			return err
		}
		n, err := readNode(root, at, entry)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		if n.mode.IsRegular() {
			total += n.size
		}
		if len(out) >= snapshotEntries || total > snapshotBytes {
			return errTooLarge
		}
		if keep && n.mode.IsRegular() {
			if b, ok := before[n.path]; ok && b.same(n) {
				n.data = b.data
			} else if n.data, err = root.ReadFile(n.path); err != nil {
				return err
			}
		}
		out = append(out, n)
		return nil
	})
	return out, err
}

func readNode(root *os.Root, at string, entry fs.DirEntry) (node, error) {
	info, err := entry.Info()
	if err != nil {
		return node{}, err
	}
	n := node{path: filepath.FromSlash(at), mode: info.Mode(), size: info.Size(), time: info.ModTime(), unique: unique(info)}
	if n.mode&fs.ModeSymlink != 0 {
		if n.target, err = root.Readlink(n.path); err != nil {
			return node{}, err
		}
	}
	return n, nil
}

// equal says whether two snapshots are of the same content.
func (s snapshot) equal(o snapshot) bool {
	if len(s) != len(o) {
		return false
	}
	for i := range s {
		if !s[i].same(o[i]) {
			return false
		}
	}
	return true
}

// copies says whether a snapshot of one path has the content of another's.
func (s snapshot) copies(o snapshot, path, other string) bool {
	return slices.EqualFunc(s, o, func(a, b node) bool {
		return strings.TrimPrefix(a.path, path) == strings.TrimPrefix(b.path, other) &&
			a.mode == b.mode && a.target == b.target && bytes.Equal(a.data, b.data)
	})
}

// write makes the snapshot's files again, below another root when it is a copy.
func (s snapshot) write(root *os.Root) error {
	for _, n := range s {
		if err := root.MkdirAll(filepath.Dir(n.path), 0o755); err != nil {
			return err
		}
		var err error
		switch {
		case n.mode.IsDir():
			if err = root.Mkdir(n.path, 0o755); errors.Is(err, fs.ErrExist) {
				err = nil
			}
		case n.mode.IsRegular():
			err = root.WriteFile(n.path, n.data, n.mode.Perm())
		case n.mode&fs.ModeSymlink != 0:
			err = root.Symlink(n.target, n.path)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
