package bundle

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"time"
)

// packed is the time of all that an archive holds: the earliest that every format
// of archives has.
var packed = time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC)

// ArchiveName is what the archive of a bundle is called.
func (m *Manifest) ArchiveName() string { return m.Name + "-" + m.Version + ".tar.gz" }

// Pack writes the archive of the bundle: the same files make the same bytes, whoever
// packs them, when and where.
func (f *Folder) Pack(w io.Writer) error {
	tree, err := f.Look()
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(f.Dir)
	if err != nil {
		return err
	}
	defer root.Close()
	zip := gzip.NewWriter(w)
	out := tar.NewWriter(zip)
	for _, e := range tree.Entries {
		if err := packEntry(out, root, e); err != nil {
			return err
		}
	}
	return errors.Join(out.Close(), zip.Close())
}

func packEntry(out *tar.Writer, root *os.Root, e Entry) error {
	h := &tar.Header{Name: e.Path, Typeflag: tar.TypeReg, Mode: 0o644, Size: e.Size, ModTime: packed, Format: tar.FormatPAX}
	switch e.Kind {
	case Link:
		h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, e.Target, 0o777
	case Exec:
		h.Mode = 0o755
	}
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	if e.Kind == Link {
		return nil
	}
	in, err := open(root, e.Path)
	if err != nil {
		return err
	}
	defer in.Close()
	_, err = io.Copy(out, io.LimitReader(in, e.Size)) // what is shorter now makes the next header fail
	return err
}
