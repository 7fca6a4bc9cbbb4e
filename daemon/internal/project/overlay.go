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

// node is something in the project, as it is or as it would be. A nil node is
// nothing at all.
type node struct {
	kind   string
	mode   fs.FileMode
	target string // of a link
	hash   string // of a file
	size   int64  // of a file on disk
	origin string // where on disk it lies; empty: nowhere yet
	lost   string // why it is not known, or its contents are not; a clause for people
	info   fs.FileInfo
	source // of a file that is not on disk as it is
}

// source is what a file's contents are made of; its zero value is what lies on disk.
type source struct {
	of   *node       // what undo makes it of; nil is nothing
	undo *sdk.Splice // nil: kept is set
	kept string      // the digest of its contents in the store
}

// is reports whether the node is what a change says it left or found. The mode counts
// where the state has one.
func (n *node) is(s *sdk.FileState) bool {
	if n == nil || s == nil {
		return n == nil && s == nil
	}
	return n.kind == s.Kind && n.target == s.Target && (s.Kind != "file" || s.Hash != "" && n.hash == s.Hash) &&
		(s.Mode == 0 || s.Kind == "link" || fs.FileMode(s.Mode).Perm() == n.mode)
}

// state is the node as a change tells of it.
func (n *node) state() *sdk.FileState {
	if n == nil {
		return nil
	}
	s := &sdk.FileState{Kind: n.kind, Hash: n.hash, Target: n.target}
	if n.kind != "link" {
		s.Mode = uint32(n.mode)
	}
	return s
}

// overlay is the project's files with changes that were not made yet. Links on
// the way to a path are never followed: what lies behind one is not there.
type overlay struct {
	*disk
	nodes map[string]*node // by path; what is not in it is as on disk
}

func newOverlay(d *disk) *overlay { return &overlay{disk: d, nodes: map[string]*node{}} }

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
	return o.at(place)
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
		sub, err := into(dir, part)
		leave(root, dir)
		if sub == nil {
			return nil, "", err
		}
		dir = sub
	}
	return dir, parts[len(parts)-1], nil
}

// into opens a folder in a folder, which is no link. Nil is one that is not there, or cannot be entered.
func into(dir *os.Root, name string) (*os.Root, error) {
	info, err := dir.Lstat(name)
	var sub *os.Root
	if err == nil && !info.IsDir() {
		err = fs.ErrNotExist
	}
	if err == nil {
		sub, err = dir.OpenRoot(name + "/.")
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
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return sub, nil
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

// read reads the hash of a file's contents.
func (n *node) read(dir *os.Root, base string) error {
	f, err := n.open(dir, base)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	all := sha256.New()
	if n.size, err = io.Copy(all, f); err != nil {
		return err
	}
	n.hash = hex.EncodeToString(all.Sum(nil))
	return nil
}

// open opens the very file that was looked at.
func (n *node) open(dir *os.Root, base string) (*os.File, error) {
	f, err := dir.OpenFile(base, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !os.SameFile(info, n.info) {
		_ = f.Close() // nothing was read of it
		return nil, errors.New("it changed in this moment; try again")
	}
	return f, nil
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
