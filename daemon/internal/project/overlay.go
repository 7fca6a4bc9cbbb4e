package project

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/sdk"
)

// mostRead bounds the contents that are looked at of one file.
const mostRead = 64 << 20

// node is something in the project, as it is or as it would be. A nil node is
// nothing at all.
type node struct {
	kind   string
	mode   fs.FileMode
	target string // of a link
	text   string // of a file, when it is known
	hash   string // of a file
	origin string // where on disk it lies; empty: nowhere yet
	lost   string // why it is not known, or its contents are not; a clause for people
	info   fs.FileInfo
}

// is reports whether the node is what a change says it left or found.
func (n *node) is(s *sdk.FileState) bool {
	if n == nil || s == nil {
		return n == nil && s == nil
	}
	return n.kind == s.Kind && n.target == s.Target && (s.Kind != "file" || s.Hash != "" && n.hash == s.Hash)
}

// overlay is the project's files with changes that were not made yet. Links on
// the way to a path are never followed: what lies behind one is not there.
type overlay struct {
	root  *os.Root
	nodes map[string]*node // by path; what is not in it is as on disk
}

func newOverlay(root *os.Root) *overlay { return &overlay{root: root, nodes: map[string]*node{}} }

// place is where on disk a path lies; false when it is decided already that
// nothing lies there.
func (o *overlay) place(at string) (string, bool) {
	for above := path.Dir(at); above != "."; above = path.Dir(above) {
		n, changed := o.nodes[above]
		if !changed {
			continue
		}
		if n == nil || n.kind != "directory" || n.origin == "" {
			return "", false
		}
		return n.origin + strings.TrimPrefix(at, above), true
	}
	return at, true
}

// look returns what is at a path, with the contents of a file.
func (o *overlay) look(at string) *node {
	if n, changed := o.nodes[at]; changed {
		return n
	}
	place, ok := o.place(at)
	if !ok {
		return nil
	}
	return onDisk(o.root, place)
}

// names are what is in a folder.
func (o *overlay) names(dir string) ([]string, error) {
	found := map[string]bool{}
	place, ok := o.place(dir)
	if n, changed := o.nodes[dir]; changed {
		if ok = n != nil && n.origin != ""; ok {
			place = n.origin
		}
	}
	if ok {
		listed, err := list(o.root, place)
		if err != nil {
			return nil, err
		}
		for _, name := range listed {
			found[name] = true
		}
	}
	for at, n := range o.nodes {
		if path.Dir(at) == dir {
			found[path.Base(at)] = n != nil
		}
	}
	maps.DeleteFunc(found, func(_ string, there bool) bool { return !there })
	return slices.Sorted(maps.Keys(found)), nil
}

// set puts something at a path.
func (o *overlay) set(at string, n *node) { o.nodes[at] = n }

// move gives what is at one path another, with everything below it.
func (o *overlay) move(from, to string, n *node) {
	below := map[string]*node{}
	for at, x := range o.nodes {
		if rest, ok := strings.CutPrefix(at, from+"/"); ok {
			below[to+"/"+rest] = x
			delete(o.nodes, at)
		}
	}
	maps.Copy(o.nodes, below)
	o.nodes[from] = nil
	o.nodes[to] = n
}

// onDisk reads what is at a path of the project. Behind a link, or behind what
// is no folder, there is nothing. What cannot be looked at is lost, and is never
// taken for nothing.
func onDisk(root *os.Root, at string) *node {
	dir, base, err := enter(root, at)
	if err != nil {
		return &node{lost: "it cannot be looked at: " + reason(err)}
	}
	if dir == nil {
		return nil
	}
	defer leave(root, dir)
	return inFolder(dir, base, at)
}

// inFolder reads what base is in a folder; its path is at.
func inFolder(dir *os.Root, base, at string) *node {
	info, err := dir.Lstat(base)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &node{lost: "it cannot be looked at: " + reason(err)}
	}
	n := &node{kind: kindOf(info.Mode()), mode: info.Mode().Perm(), origin: at, info: info}
	switch n.kind {
	case "link":
		n.target, err = dir.Readlink(base)
	case "file":
		err = n.read(dir, base)
	}
	if err != nil {
		n.lost = "it cannot be read: " + reason(err)
	}
	return n
}

// reason is what an error says without the path, which everybody knows.
func reason(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err.Error()
	}
	return err.Error()
}

// enter opens the folder that holds a path, one name at a time, and follows no
// link. A nil folder is one that is not there. The caller leaves it.
func enter(root *os.Root, at string) (*os.Root, string, error) {
	dir := root
	parts := strings.Split(at, "/")
	for _, part := range parts[:len(parts)-1] {
		info, err := dir.Lstat(part)
		var sub *os.Root
		if err == nil && !info.IsDir() {
			err = fs.ErrNotExist
		}
		if err == nil {
			sub, err = dir.OpenRoot(part + "/.")
		}
		if err == nil {
			var opened fs.FileInfo
			if opened, err = sub.Stat("."); err == nil && !os.SameFile(info, opened) {
				err = fs.ErrNotExist // a link was swapped in
			}
			if err != nil {
				_ = sub.Close() // it was only looked at
			}
		}
		leave(root, dir)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return nil, "", nil
		}
		if err != nil {
			return nil, "", err
		}
		dir = sub
	}
	return dir, parts[len(parts)-1], nil
}

func leave(root, dir *os.Root) {
	if dir != root {
		_ = dir.Close() // nothing was written through the handle itself
	}
}

func list(root *os.Root, at string) ([]string, error) {
	dir, base, err := enter(root, at)
	if dir == nil || err != nil {
		return nil, err
	}
	defer leave(root, dir)
	if info, err := dir.Lstat(base); err != nil || !info.IsDir() {
		return nil, nil
	}
	f, err := dir.Open(base + "/.")
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	return f.Readdirnames(-1)
}

// read reads the contents of a file with their hash; neither is known when they
// are too long to be looked at.
func (n *node) read(dir *os.Root, base string) error {
	f, err := dir.OpenFile(base, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	if info, err := f.Stat(); err != nil || !os.SameFile(info, n.info) {
		return errors.New("it changed in this moment; try again")
	}
	body, err := io.ReadAll(io.LimitReader(f, mostRead+1))
	switch {
	case err != nil:
		return err
	case len(body) > mostRead:
		n.lost = "it is larger than 64 MB"
	default:
		n.text = string(body)
		n.hash = sum(n.text)
	}
	return nil
}

func sum(text string) string {
	s := sha256.Sum256([]byte(text))
	return hex.EncodeToString(s[:])
}

func kindOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "link"
	default:
		return "special file"
	}
}
