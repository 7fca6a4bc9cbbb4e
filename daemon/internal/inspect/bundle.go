package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/bothyd/bothy/daemon/internal/bundle"
	"github.com/bothyd/bothy/daemon/internal/durable"
	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/plugin"
)

// openBundle opens what a folder starts.
func openBundle(path string) (*Binary, error) {
	folder, err := bundle.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s is not a file but a folder without a %s: name the plugin's file, or write one", path, bundle.ManifestName)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	tree, err := folder.Look()
	if err != nil {
		return nil, fmt.Errorf("%s: %v", path, err) // it is there, whatever it lacks
	}
	for _, p := range tree.Places {
		if p.Info.Mode()&0o002 != 0 && p.Info.Mode().Type() != fs.ModeSymlink {
			return nil, openToAll(filepath.Join(path, p.Path), p.Info.Mode())
		}
	}
	b, err := OpenBinary(folder.Program())
	if err != nil {
		return nil, fmt.Errorf("%s: what it starts cannot be used: %s", path, err) // its absence is no absence of the plugin
	}
	b.Path, b.Bundle, b.Args = path, folder, folder.Args
	return b, nil
}

// agrees is the fault of a bundle that is not what the plugin says of itself, which is what
// the lock has; nil for none, and for a single file.
func (b *Binary) agrees(m sdk.Manifest) error {
	if f := b.Bundle; f != nil && (f.Name != m.Name || f.Version != m.Version) {
		return &Fault{
			Summary: "its two manifests differ", Permanent: true,
			Detail: fmt.Sprintf("%s calls it %s %s, and the plugin calls itself %s %s: let both say the same", bundle.ManifestName, f.Name, f.Version, m.Name, m.Version),
		}
	}
	return nil
}

// prepare tells a plugin which process is its daemon, and an interpreter to leave nothing
// beside a bundle's files: in the store that would be a change. A block's env says otherwise.
func (b *Binary) prepare(cmd *exec.Cmd) {
	const clean = "PYTHONDONTWRITEBYTECODE="
	if b.Bundle != nil && !slices.ContainsFunc(cmd.Env, func(v string) bool { return strings.HasPrefix(v, clean) }) {
		cmd.Env = append(cmd.Env, clean+"1")
	}
	cmd.Env = append(cmd.Env, fmt.Sprintf("%s=%d", plugin.EnvHostPID, os.Getpid()))
}

// unpacked is a new folder below tmp with what an archive holds; for what is no
// archive it is path itself.
func unpacked(ctx context.Context, path, tmp string) (string, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return path, nil // who opens it as a plugin says why
	}
	defer f.Close()
	head := make([]byte, 2)
	if _, err := f.ReadAt(head, 0); err != nil || !bundle.IsArchive(head) {
		return path, nil
	}
	dir := filepath.Join(tmp, "unpacked")
	return dir, errors.Join(os.Mkdir(dir, 0o700), bundle.Unpack(ctx, f, dir))
}

// mostFolders is how many folders of a bundle are watched. Changes in others are seen
// when something else makes somebody look.
const mostFolders = 256

// Look tells what a start would find at a path from what it found before, without
// reading files, and says which folders to watch for a change, without links. It is empty where there
// is nothing. Of a bundle in the store the folder alone counts: nothing below it is
// ever written.
func (s *Inspector) Look(path string) (identity string, folders []string) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", nil
	}
	identity = identityOf(info)
	if !info.IsDir() || s.digestOf(path) != "" {
		return identity, nil
	}
	f, err := bundle.Open(path)
	if err != nil {
		f = &bundle.Folder{Dir: path, Whole: true} // whatever is mended in it
	}
	tree, _ := f.Look()
	identity = cmp.Or(sumOf(tree.Places, nil), identity)
	real := sdk.WithoutLinks(path)
	for _, p := range tree.Places {
		if p.Info.IsDir() && len(folders) < mostFolders {
			folders = append(folders, filepath.Join(real, p.Path))
		}
	}
	return identity, folders
}

// listingName is the file that lies in the store beside a bundle.
const listingName = "files"

// listingFile keeps what the digest of a bundle covers: beside it in the store, and
// for one elsewhere in the daemon's data, as something vouched for it last.
func (s *Inspector) listingFile(b *Binary) string {
	if s.digestOf(b.Path) != "" {
		return filepath.Join(filepath.Dir(b.Path), listingName)
	}
	return s.cacheFile(b.Path) + ".files"
}

// held is what a bundle held when it had a digest, where that is still known.
func (s *Inspector) held(b *Binary, digest string) (bundle.Listing, bool) {
	text, err := os.ReadFile(s.listingFile(b))
	l := bundle.Listing(text)
	return l, err == nil && l.Digest() == digest
}

// named adds to why a bundle is refused which of its files it is about.
func (s *Inspector) named(b *Binary, pin string, refused error) error {
	if b.Bundle == nil || b.Digest == pin {
		return refused
	}
	was, known := s.held(b, pin)
	if !known || b.list() != nil {
		return refused
	}
	return fmt.Errorf("%s: %w", was.Changes(b.listing), refused)
}

// vouch keeps what a bundle outside the store holds that something vouches for, so
// that a change can be named.
func (s *Inspector) vouch(b *Binary) {
	if b.Bundle == nil || b.Bundle.Whole || b.Pin == "" {
		return
	}
	if _, known := s.held(b, b.Digest); !known && b.list() == nil { // a start finds out what is wrong
		s.keep(s.listingFile(b), []byte(b.listing), durable.Replace)
	}
}

// list reads a bundle whose digest was kept.
func (b *Binary) list() (err error) {
	if b.listing == "" {
		_, err = b.Sum()
	}
	return err
}
