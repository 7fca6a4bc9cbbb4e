package bundle

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// Unpack writes what an archive holds into a folder that is empty. What a bundle
// cannot have is refused in a sentence, and what was written by then is left to the
// caller. Whether it is a bundle at all says Open.
func Unpack(ctx context.Context, archive io.Reader, dir string) error {
	zip, err := gzip.NewReader(archive)
	if err != nil {
		return fmt.Errorf("it cannot be read as .tar.gz: %w", err)
	}
	defer func() { _ = zip.Close() }() // all was read and checked
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	u := unpacking{root: root, seen: seen{}}
	text := &bounded{r: zip, left: MostBytes + MostFiles<<10}
	in := tar.NewReader(text)
	for {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			if _, err = io.Copy(io.Discard, text); err == nil { // its checksum comes last
				return u.end()
			}
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("it cannot be read as .tar.gz: %w", err)
		}
		if err := u.take(h, in); errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("it is cut off within %s", h.Name)
		} else if err != nil {
			return err
		}
	}
}

// unpacking is one archive on its way into a folder. Links are made last, so that
// nothing is written through one.
type unpacking struct {
	root  *os.Root
	seen  seen
	spent budget
	links []Entry
}

// take writes one thing of the archive.
func (u *unpacking) take(h *tar.Header, content io.Reader) error {
	name := strings.TrimPrefix(h.Name, "./")
	if h.Typeflag == tar.TypeDir {
		name = strings.TrimSuffix(name, "/")
	}
	if err := u.spent.take(name, max(h.Size, 0)); err != nil {
		return err
	}
	if h.Typeflag == tar.TypeXGlobalHeader || h.Typeflag == tar.TypeDir && (name == "" || name == ".") {
		return nil
	}
	if err := u.seen.add(name); err != nil {
		return err
	}
	e := Entry{Path: name, Kind: File, Size: h.Size, Target: h.Linkname}
	switch h.Typeflag {
	case tar.TypeDir:
		return u.root.MkdirAll(name, 0o700)
	case tar.TypeSymlink:
		e.Kind = Link
		u.links = append(u.links, e)
		return checkLink(name, e.Target)
	case tar.TypeReg:
		if h.Mode&0o111 != 0 {
			e.Kind = Exec
		}
	default:
		return fmt.Errorf("%s is %s: a bundle has files, folders and symbolic links", name, described(h.Typeflag))
	}
	return u.make(e, content)
}

func (u *unpacking) make(e Entry, content io.Reader) error {
	err := write(u.root, e, content)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("it has %s twice", e.Path)
	}
	return err
}

// end makes the links.
func (u *unpacking) end() error {
	for _, e := range u.links {
		if err := u.make(e, nil); err != nil {
			return err
		}
	}
	return nil
}

func described(kind byte) string {
	switch kind {
	case tar.TypeLink:
		return "a hard link"
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	case tar.TypeFifo:
		return "a named pipe"
	}
	return fmt.Sprintf("of the kind %q", kind)
}

// bounded ends a stream that goes on beyond all that a bundle may have.
type bounded struct {
	r    io.Reader
	left int64
}

// Read implements io.Reader.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errors.New("it is larger than any bundle may be")
	}
	n, err := b.r.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(n)
	return n, err
}
