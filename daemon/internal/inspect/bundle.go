package inspect

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/bothyd/bothy/daemon/internal/bundle"
	"github.com/bothyd/bothy/sdk"
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
			at := filepath.Join(path, p.Path)
			return nil, fmt.Errorf("%s can be changed by everybody (%v): run chmod o-w on it", at, p.Info.Mode())
		}
	}
	b, err := OpenBinary(folder.Program())
	if err != nil {
		return nil, fmt.Errorf("%s: what it starts cannot be used: %s", path, err) // its absence is no absence of the plugin
	}
	b.Path, b.Bundle = path, folder
	return b, nil
}

// Program is the path of the file that is started.
func (b *Binary) Program() string {
	if b.Bundle == nil {
		return b.Path
	}
	return b.Bundle.Program()
}

// Args are those that come before the arguments of a block; describe gets none.
func (b *Binary) Args() []string {
	if b.Bundle == nil {
		return nil
	}
	return slices.Clone(b.Bundle.Manifest.Args)
}

// prepare makes an interpreter leave nothing beside a bundle's files: in the store
// that would be a change. A block's env says otherwise.
func (b *Binary) prepare(cmd *exec.Cmd) {
	if b.Bundle != nil {
		cmd.Env = append([]string{"PYTHONDONTWRITEBYTECODE=1"}, cmd.Env...)
	}
}

// treeIdentity changes whenever a file or folder of a bundle does. It is empty when
// the bundle cannot be used, or what was opened of it, the manifest and what is
// started, is not what lies there.
func (b *Binary) treeIdentity() string {
	tree, err := b.Bundle.Look()
	if err != nil {
		return ""
	}
	b.places = tree.Places
	opened := map[string]string{bundle.ManifestName: Identity(b.Bundle.Read)}
	if info, err := b.File.Stat(); err == nil {
		opened[b.Bundle.Start] = Identity(info)
	}
	hash := sha256.New()
	for _, p := range tree.Places {
		id := Identity(p.Info)
		if is, had := opened[p.Path]; id == "" || had && is != id {
			return ""
		}
		fmt.Fprintf(hash, "%s %v %q\n", id, p.Info.Mode(), p.Path)
	}
	return hex.EncodeToString(hash.Sum(nil))
}

// isArchive reports whether a file may be the archive of a bundle.
func isArchive(path string) bool {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 2)
	_, err = f.ReadAt(head, 0)
	return err == nil && bundle.IsArchive(head)
}

// unpack writes an archive into a new folder below tmp, which it returns.
func unpack(ctx context.Context, path, tmp string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	dir := filepath.Join(tmp, "unpacked")
	return dir, errors.Join(os.Mkdir(dir, 0o700), bundle.Unpack(ctx, f, dir))
}

// agrees refuses a bundle that is called otherwise than its plugin says: the lock
// has what the plugin says.
func (b *Binary) agrees(m sdk.Manifest) error {
	if b.Bundle == nil {
		return nil
	}
	if f := b.Bundle; f.Name != m.Name || f.Version != m.Version {
		return sdk.Errorf(sdk.Validation, "%s calls it %s %s, and the plugin calls itself %s %s: let both say the same", bundle.ManifestName, f.Name, f.Version, m.Name, m.Version)
	}
	return nil
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
	identity = Identity(info)
	if !info.IsDir() || within(path, s.cfg.Installed) && s.cfg.Installed != "" {
		return identity, nil
	}
	b, err := OpenBinary(path)
	if err != nil {
		return identity, nil
	}
	defer b.Close()
	if tree := b.Identity(); tree != "" {
		identity = tree
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return identity, nil
	}
	for _, p := range b.places {
		if p.Info.IsDir() && len(folders) < mostFolders {
			folders = append(folders, filepath.Join(real, p.Path))
		}
	}
	return identity, folders
}

// listingName is the file that lies in the store beside a bundle and says what its
// digest covers.
const listingName = "files"

// vouched is what a bundle held when its pin was made, where that is still known.
func (s *Inspector) vouched(b *Binary, pin string) (bundle.Listing, bool) {
	if l, known := b.stored(pin); known {
		return l, true
	}
	kept, _ := s.kept(b.Path)
	return kept.Vouched, kept.Vouched.Digest() == pin
}

// stored is the listing of a digest that lies beside a bundle of the store.
func (b *Binary) stored(digest string) (bundle.Listing, bool) {
	text, err := os.ReadFile(filepath.Join(filepath.Dir(b.Path), listingName))
	l := bundle.Listing(text)
	return l, err == nil && b.Bundle != nil && l.Digest() == digest
}

// named adds to why a bundle is refused which of its files it is about.
func (s *Inspector) named(b *Binary, spec Spec, refused error) error {
	if b.Bundle == nil {
		return refused
	}
	pin := spec.pinned()
	was, known := s.vouched(b, pin)
	if !known || b.Digest == pin {
		return refused
	}
	if b.listing == "" { // its digest was kept
		if _, err := b.Sum(); err != nil {
			return refused
		}
	}
	return fmt.Errorf("%s: %w", was.Changes(b.listing), refused)
}

// vouch keeps what a bundle outside the store holds that something vouches for, so
// that a change can be named.
func (s *Inspector) vouch(b *Binary) {
	if b.Bundle == nil || b.Bundle.Whole || b.Pin == "" {
		return
	}
	if kept, _ := s.kept(b.Path); kept.Vouched.Digest() == b.Digest {
		return
	}
	if b.listing == "" {
		if _, err := b.Sum(); err != nil {
			return // a start finds out
		}
	}
	s.update(b, func(kept *described) bool {
		kept.Vouched = b.listing
		return true
	})
}

// pinned is the digest that a block or the lock pins; empty is none.
func (spec Spec) pinned() string {
	locked := ""
	if spec.Locked != nil {
		locked = spec.Locked.Digest
	}
	return cmp.Or(blockPin(spec), locked)
}
