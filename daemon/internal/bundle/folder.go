package bundle

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"syscall"
)

// Folder is a bundle that lies in a folder, unpacked. Nothing of it is held open:
// what lies there now is what each call looks at.
type Folder struct {
	Dir string
	Manifest
	Read  fs.FileInfo // of the manifest, when it had been read
	Whole bool        // all that lies there counts, whatever the manifest takes: so it is in the store
}

// Open reads the manifest of a folder. The error is fs.ErrNotExist where there is
// none: then the folder is no bundle.
func Open(dir string) (*Folder, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := open(root, ManifestName)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostManifest+1))
	if err != nil {
		return nil, err
	}
	m, err := ParseManifest(text)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	return &Folder{Dir: dir, Manifest: m, Read: info}, err
}

// open opens a regular file below a root for reading. It waits for nobody.
func open(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no file (%v)", name, info.Mode())
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Kind is what of a file's mode belongs to a bundle.
type Kind string

// The kinds. What else a file system knows is refused.
const (
	File Kind = "file" // 0444 in the store
	Exec Kind = "exec" // 0555: somebody may execute it
	Link Kind = "link" // symbolic, to something in the bundle
)

// Entry is one file or link of a bundle.
type Entry struct {
	Path   string // below the folder, with slashes
	Kind   Kind
	Target string // of a link
	Size   int64  // of a file, when it was looked at
}

// Place is what was looked at: an entry, or a folder on the way.
type Place struct {
	Path string // "." is the folder itself
	Info fs.FileInfo
}

// Tree is what a folder held when it was looked at. Entries are in the order of the
// bytes of their paths, which is the order of the listing.
type Tree struct {
	Entries []Entry
	Places  []Place
}

// Look reads what belongs to the bundle, without reading the files. The error says
// in a sentence what of it a bundle cannot have.
func (f *Folder) Look() (Tree, error) {
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return Tree{}, err
	}
	defer root.Close()
	return f.look(root)
}

// each looks at the bundle, and then does something with each entry in turn.
func (f *Folder) each(do func(*os.Root, Entry) error) error {
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	tree, err := f.look(root)
	for _, e := range tree.Entries {
		if err == nil {
			err = do(root, e)
		}
	}
	return err
}

func (f *Folder) look(root *os.Root) (Tree, error) {
	w := look{folder: f, root: root, seen: seen{}}
	if err := fs.WalkDir(root.FS(), ".", w.visit); err != nil {
		return Tree{}, err
	}
	slices.SortFunc(w.tree.Entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return w.tree, w.whole()
}

// look is one look at a folder.
type look struct {
	folder *Folder
	root   *os.Root
	seen   seen
	spent  budget
	tree   Tree
}

func (w *look) visit(name string, d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	whole := w.folder.Whole
	if d.IsDir() && !whole && w.folder.skips(name) {
		return fs.SkipDir
	}
	if !d.IsDir() && !whole && !w.folder.Has(name) {
		return nil
	}
	info, err := d.Info()
	if err != nil {
		return err
	}
	w.tree.Places = append(w.tree.Places, Place{name, info})
	if d.IsDir() {
		return w.spent.take(name, 0)
	}
	if err := w.seen.add(name); err != nil {
		return err
	}
	e := Entry{Path: name, Kind: File}
	switch mode := info.Mode(); {
	case mode.Type() == fs.ModeSymlink:
		e.Kind = Link
		if e.Target, err = w.root.Readlink(name); err != nil {
			return err
		}
		if err := checkLink(name, e.Target); err != nil {
			return err
		}
	case !mode.IsRegular():
		return fmt.Errorf("%s is neither a file, a folder nor a link (%v)", name, mode)
	default:
		e.Size = info.Size()
		if mode&0o111 != 0 {
			e.Kind = Exec
		}
	}
	w.tree.Entries = append(w.tree.Entries, e)
	return w.spent.take(name, e.Size)
}

// whole says what the entries lack, taken together.
func (w *look) whole() error {
	start, kind := w.folder.Start, Kind("")
	for _, e := range w.tree.Entries {
		if e.Path == start {
			kind = e.Kind
		}
		if e.Kind == Link && !w.seen.has(path.Join(path.Dir(e.Path), e.Target)) {
			return fmt.Errorf("%s is a link to %q, which does not belong to the bundle", e.Path, e.Target)
		}
	}
	switch {
	case !w.seen.has(start):
		return fmt.Errorf("it is to start %s, which is not there: build it first, or name another file in %s", start, ManifestName)
	case kind == File:
		return fmt.Errorf("it is to start %s, which is not executable: run chmod +x on it", start)
	case kind != Exec:
		return fmt.Errorf("it is to start %s, which is no file", start)
	}
	return nil
}

// Program is the path of what is started.
func (f *Folder) Program() string { return filepath.Join(f.Dir, filepath.FromSlash(f.Start)) }

// Copy makes the bundle anew in a folder that is empty, as the store keeps it: no
// file and no folder of it can be written. What it copies may change meanwhile;
// what counts is the digest of the copy.
func (f *Folder) Copy(to string) error {
	made, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer made.Close()
	err = f.each(func(root *os.Root, e Entry) error {
		if e.Kind == Link {
			return write(made, e, nil)
		}
		in, err := open(root, e.Path)
		if err != nil {
			return err
		}
		defer in.Close()
		return write(made, e, in)
	})
	return errors.Join(err, chmodFolders(to, 0o555))
}

// write makes a file of a bundle from what is read, or a link, and the folders that it
// lies in. What is there already is no place for it.
func write(to *os.Root, e Entry, from io.Reader) error {
	if err := to.MkdirAll(path.Dir(e.Path), 0o700); err != nil {
		return fmt.Errorf("make the folder of %s: %v", e.Path, err) // it is there, and is none
	}
	if e.Kind == Link {
		return to.Symlink(e.Target, e.Path)
	}
	out, err := to.OpenFile(e.Path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	mode := fs.FileMode(0o444)
	if e.Kind == Exec {
		mode = 0o555
	}
	return errors.Join(copyAll(out, from, e), out.Chmod(mode), out.Close())
}

// copyAll copies as many bytes as a file had when it was looked at.
func copyAll(to io.Writer, from io.Reader, e Entry) error {
	n, err := io.Copy(to, io.LimitReader(from, e.Size))
	if err == nil && n < e.Size {
		err = fmt.Errorf("%s became smaller while it was read", e.Path)
	}
	return err
}

// readInto reads a file of a bundle.
func readInto(to io.Writer, root *os.Root, e Entry) error {
	in, err := open(root, e.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	return copyAll(to, in, e)
}

// Remove removes a folder, also one that cannot be written.
func Remove(dir string) error {
	_ = chmodFolders(dir, 0o700) // what stays in spite of it is said below
	return os.RemoveAll(dir)
}

// chmodFolders gives a folder and all below it a mode.
func chmodFolders(dir string, mode fs.FileMode) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = os.Chmod(name, mode)
		}
		return err
	})
}

// IsArchive reports whether a file begins as an archive that Unpack reads.
func IsArchive(head []byte) bool { return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) }
