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
	zip := gzip.NewWriter(w)
	out := tar.NewWriter(zip)
	err := f.each(func(root *os.Root, e Entry) error {
		h := &tar.Header{Name: e.Path, Typeflag: tar.TypeReg, Mode: 0o644, Size: e.Size, ModTime: packed, Format: tar.FormatPAX}
		switch e.Kind {
		case Link:
			h.Typeflag, h.Linkname, h.Mode = tar.TypeSymlink, e.Target, 0o777
		case Exec:
			h.Mode = 0o755
		}
		if err := out.WriteHeader(h); err != nil || e.Kind == Link {
			return err
		}
		return readInto(out, root, e)
	})
	if err != nil {
		return err
	}
	return errors.Join(out.Close(), zip.Close())
}
