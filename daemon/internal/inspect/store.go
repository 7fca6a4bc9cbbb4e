package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/bothyd/bothy/daemon/internal/bundle"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// Store is the store of installed plugins: a file or a bundle of digest HEX lies in
// sha256/HEX below its folder, and neither is ever written again. Beside a bundle lies
// what its digest covers.
type Store struct {
	Dir string
}

// Stored is a plugin's file, or its bundle, in the store.
type Stored struct {
	Path     string       `json:"path"`
	Digest   string       `json:"digest"`
	Script   bool         `json:"script,omitempty"` // no digest covers its interpreter, nor what it imports from elsewhere
	Files    int          `json:"files,omitempty"`  // of a bundle
	Fresh    bool         `json:"-"`                // it was not there before
	Manifest sdk.Manifest `json:"manifest"`
}

var pluginName = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]{0,63}$`)

// Add copies a plugin's file into the store, or the bundle of a folder or an archive,
// and asks it what it declares, held to that as nobody vouches for it. What is asked
// is the copy, so that the file may change meanwhile. The error is validation for what
// is no plugin.
func (s Store) Add(ctx context.Context, path string, asker *Inspector) (Stored, error) {
	root := filepath.Join(s.Dir, "sha256")
	if err := os.MkdirAll(root, 0o700); err != nil {
		return Stored{}, sdk.Errorf(sdk.Unavailable, "make the store of plugins: %w", err)
	}
	tmp, err := os.MkdirTemp(root, ".new-")
	if err != nil {
		return Stored{}, sdk.Errorf(sdk.Unavailable, "make the store of plugins: %w", err)
	}
	defer func() { _ = bundle.Remove(tmp) }() // gone when it was renamed
	from := path
	if isArchive(path) {
		if from, err = unpack(ctx, path, tmp); err != nil {
			return Stored{}, sdk.Errorf(sdk.Validation, "%s cannot be installed: %w", path, err)
		}
	}
	b, fail := asker.Find(Spec{Path: from})
	switch {
	case fail != nil && fail.Missing:
		return Stored{}, sdk.Errorf(sdk.NotFound, "there is no file %s: name the plugin's binary, or build it first", path)
	case fail != nil:
		return Stored{}, sdk.Errorf(sdk.Validation, "%s", strings.ReplaceAll(fail.Error(), from, path))
	}
	defer b.Close()
	copied := filepath.Join(tmp, "bothy-plugin")
	if err := b.copyInto(copied); err != nil {
		return Stored{}, sdk.Errorf(sdk.Unavailable, "copy %s into the store: %w", path, err)
	}
	if from != path {
		if err := bundle.Remove(from); err != nil {
			return Stored{}, sdk.Errorf(sdk.Unavailable, "copy %s into the store: %w", path, err)
		}
	}
	c, fail := asker.Find(Spec{Path: copied})
	if fail != nil {
		return Stored{}, sdk.Errorf(sdk.Unavailable, "%s", fail.Error())
	}
	defer c.Close()
	if c.Digest, err = c.Sum(); err != nil { // nothing is kept of a place that is about to be another
		return Stored{}, sdk.Errorf(sdk.Unavailable, "read what was copied into the store: %w", err)
	}
	st := Stored{Digest: c.Digest, Script: c.Script, Files: c.listing.Files()}
	if st.Manifest, err = asker.runDescribe(ctx, c); err != nil {
		return Stored{}, sdk.Errorf(sdk.Validation, "%s is no plugin that describes itself: %s", path, strings.ReplaceAll(err.Error(), copied, filepath.Base(path)))
	}
	if !pluginName.MatchString(st.Manifest.Name) {
		return Stored{}, sdk.Errorf(sdk.Validation, "the plugin calls itself %q, which cannot be a plugin's name", st.Manifest.Name)
	}
	if err := c.agrees(st.Manifest); err != nil {
		return Stored{}, err
	}
	if b.Bundle != nil {
		if err := os.WriteFile(filepath.Join(tmp, listingName), []byte(c.listing), 0o444); err != nil {
			return Stored{}, sdk.Errorf(sdk.Unavailable, "put the plugin into the store: %w", err)
		}
	}
	return st, s.settle(&st, tmp, copied)
}

// copyInto makes a file, or a bundle, that can be run and not written.
func (b *Binary) copyInto(path string) error {
	if b.Bundle != nil {
		return errors.Join(os.Mkdir(path, 0o700), b.Bundle.Copy(path))
	}
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return err
	}
	_, err = io.Copy(to, io.NewSectionReader(b.File, 0, 1<<40))
	return errors.Join(err, to.Chmod(0o555), to.Sync(), to.Close())
}

// settle gives the copy its place. One that is there already stays, unless it is
// not any more what its place says.
func (s Store) settle(st *Stored, tmp, copied string) error {
	folder := s.folder(st.Digest)
	name := "bothy-plugin-" + st.Manifest.Name
	st.Path = filepath.Join(folder, name)
	if _, err := s.compare(st.Path); err == nil {
		return nil
	}
	if err := s.Remove(st.Digest); err != nil {
		return err
	}
	err := os.Rename(copied, filepath.Join(tmp, name))
	if err == nil {
		err = os.Rename(tmp, folder)
	}
	if err == nil {
		err = errors.Join(os.Chmod(folder, 0o555), syncFolder(filepath.Dir(folder)))
	}
	if err != nil {
		return sdk.Errorf(sdk.Unavailable, "put the plugin into the store: %w", err)
	}
	st.Fresh = true
	return nil
}

func syncFolder(folder string) error {
	f, err := os.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func (s Store) folder(digest string) string { return filepath.Join(s.Dir, "sha256", digest) }

// DigestOf is the digest that the place of a file in the store names; empty for
// a file that is not in it.
func (s Store) DigestOf(path string) string {
	rel, err := filepath.Rel(filepath.Join(s.Dir, "sha256"), path)
	if err != nil || !filepath.IsLocal(rel) || s.Dir == "" {
		return ""
	}
	digest, file, _ := strings.Cut(rel, "/")
	if file == "" || len(digest) != 64 {
		return ""
	}
	return digest
}

// versions are the files of the store that are of the same plugin as one of them.
func (s Store) versions(path string) ([]string, error) {
	if s.DigestOf(path) == "" {
		return nil, nil
	}
	return filepath.Glob(filepath.Join(s.Dir, "sha256", "[0-9a-f]*", filepath.Base(path)))
}

// Remove takes a file out of the store; one that is not there is gone already.
// A plugin that runs from it goes on.
func (s Store) Remove(digest string) error {
	folder := s.folder(digest)
	err := os.Chmod(folder, 0o700)
	if os.IsNotExist(err) {
		return nil
	}
	if err == nil {
		err = bundle.Remove(folder)
	}
	if err != nil {
		return sdk.Errorf(sdk.Unavailable, "remove a plugin from the store: %w", err)
	}
	return nil
}

// Damaged are the files of the store that are not what their place says.
func (s Store) Damaged() ([]Verified, error) {
	files, err := filepath.Glob(filepath.Join(s.Dir, "sha256", "[0-9a-f]*", "bothy-plugin-*"))
	if err != nil || s.Dir == "" {
		return nil, err
	}
	slices.Sort(files)
	var out []Verified
	for _, f := range files {
		sum, err := s.compare(f)
		if err != nil {
			out = append(out, Verified{Path: f, Digest: sum, Origin: "store", Problem: err.Error()})
		}
	}
	return out, nil
}

// compare works out the digest of what lies in the store, and says why it is not what
// its place says.
func (s Store) compare(path string) (string, error) {
	b, err := OpenBinary(path)
	if err != nil {
		return "", err
	}
	defer b.Close()
	if b.Bundle != nil {
		b.Bundle.Whole = true
	}
	sum, err := b.Sum()
	if err != nil || sum == s.DigestOf(path) {
		return sum, err
	}
	err = errors.New("it is not any more what was installed: install it again")
	if was, known := b.stored(s.DigestOf(path)); known {
		err = fmt.Errorf("%s: %w", was.Changes(b.listing), err)
	}
	return sum, err
}

// Locked is what bothy.lock is to say of a stored plugin.
func (s Stored) Locked() config.Locked { return config.LockOf(s.Manifest, s.Digest, s.Script) }

// String names a stored plugin for people.
func (s Stored) String() string {
	return fmt.Sprintf("%s %s", s.Manifest.Name, s.Manifest.Version)
}
