package inspect

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bothyd/bothy/daemon/internal/bundle"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/daemon/internal/durable"
	"github.com/bothyd/bothy/sdk"
)

// halfTime is after how long what a copy has made is taken for that of one that was killed.
const halfTime = 24 * time.Hour

// Add copies a plugin's file into the store, or the bundle of a folder or an archive, and
// asks the copy what it declares, as a stranger. One of digest HEX lies in sha256/HEX below
// the store's folder, and is never written again; beside a bundle lies what its digest
// covers. The error is validation for what is no plugin.
func (s *Inspector) Add(ctx context.Context, path string) (st Installation, err error) {
	root := filepath.Join(s.cfg.Installed, "sha256")
	halves, _ := filepath.Glob(filepath.Join(root, ".new-*")) // of our own pattern
	for _, half := range halves {
		if info, err := os.Stat(half); err == nil && time.Since(info.ModTime()) > halfTime {
			_ = bundle.Remove(half) // the next one tries it again
		}
	}
	var tmp string
	if err = os.MkdirAll(root, 0o700); err == nil {
		tmp, err = os.MkdirTemp(root, ".new-")
	}
	if err != nil {
		return st, sdk.Errorf(sdk.Unavailable, "make the store of plugins: %w", err)
	}
	defer func() { _ = bundle.Remove(tmp) }() // what belongs into the store was renamed
	from, err := unpacked(ctx, path, tmp)
	if err != nil {
		return st, sdk.Errorf(sdk.Validation, "%s cannot be installed: %w", path, err)
	}
	b, fail := s.Find(Spec{Path: from})
	switch {
	case fail != nil && fail.Missing:
		return st, sdk.Errorf(sdk.NotFound, "there is no file %s: name the plugin's binary, or build it first", path)
	case fail != nil:
		return st, sdk.Errorf(sdk.Validation, "%s", strings.ReplaceAll(fail.Error(), from, path))
	}
	defer b.Close()
	made := filepath.Join(tmp, "made")
	copied := filepath.Join(made, "bothy-plugin")
	if err := errors.Join(os.Mkdir(made, 0o700), b.copyInto(copied)); err != nil {
		return st, sdk.Errorf(sdk.Unavailable, "copy %s into the store: %w", path, err)
	}
	c, fail := s.Find(Spec{Path: copied})
	if fail != nil {
		return st, sdk.Errorf(sdk.Unavailable, "%s", fail.Error())
	}
	defer c.Close()
	if c.Digest, err = c.Sum(); err != nil { // nothing is kept of a place that is about to be another
		return st, sdk.Errorf(sdk.Unavailable, "read what was copied into the store: %w", err)
	}
	st = Installation{Digest: c.Digest, Script: c.Script, Files: c.Files}
	if st.Manifest, err = s.runDescribe(ctx, c); err != nil {
		return st, sdk.Errorf(sdk.Validation, "%s is no plugin that describes itself: %s", path, strings.ReplaceAll(err.Error(), copied, filepath.Base(path)))
	}
	if name := st.Manifest.Name; config.CheckLabel("plugin", name) != nil {
		return st, sdk.Errorf(sdk.Validation, "the plugin calls itself %q, which cannot be a plugin's name", name)
	}
	if err := c.agrees(st.Manifest); err != nil {
		return st, sdk.Errorf(sdk.Validation, "%s cannot be installed: %w", path, err)
	}
	return st, s.settle(&st, c, made)
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

// settle gives a copy its place. One that is there already stays, unless it is
// not any more what its place says.
func (s *Inspector) settle(st *Installation, copied *Binary, made string) error {
	folder, name := s.folder(st.Digest), "bothy-plugin-"+st.Manifest.Name
	st.Path = filepath.Join(folder, name)
	if s.Verify(Spec{Path: st.Path}).Problem == "" {
		return nil
	}
	err := errors.Join(s.remove(st.Digest), os.Rename(copied.Path, filepath.Join(made, name)))
	if err == nil && copied.Bundle != nil {
		err = os.WriteFile(filepath.Join(made, listingName), []byte(copied.listing), 0o444)
	}
	if err == nil {
		err = os.Rename(made, folder)
	}
	if err == nil {
		err = errors.Join(os.Chmod(folder, 0o555), durable.Folder(filepath.Dir(folder)))
	}
	if err != nil {
		return sdk.Errorf(sdk.Unavailable, "put the plugin into the store: %w", err)
	}
	st.Fresh = true
	return nil
}

func (s *Inspector) folder(digest string) string {
	return filepath.Join(s.cfg.Installed, "sha256", digest)
}

// digestOf is the digest that the place of a file in the store names; empty for
// a file that is not in it.
func (s *Inspector) digestOf(path string) string {
	rel, err := filepath.Rel(s.folder(""), path)
	digest, file, _ := strings.Cut(rel, "/")
	if err != nil || s.cfg.Installed == "" || file == "" || len(digest) != 64 {
		return ""
	}
	return digest
}

// versions are the files of the store whose names match a pattern.
func (s *Inspector) versions(pattern string) []string {
	if s.cfg.Installed == "" {
		return nil
	}
	files, _ := filepath.Glob(filepath.Join(s.folder("[0-9a-f]*"), pattern)) // no pattern of ours is malformed
	return files
}

// remove takes a file out of the store; one that is not there is gone already.
// A plugin that runs from it goes on.
func (s *Inspector) remove(digest string) error {
	if err := bundle.Remove(s.folder(digest)); err != nil {
		return sdk.Errorf(sdk.Unavailable, "remove a plugin from the store: %w", err)
	}
	return nil
}

// Damaged are the files of the store that are not what their place says.
func (s *Inspector) Damaged() (out []Verified) {
	for _, file := range s.versions("bothy-plugin-*") {
		if v := s.Verify(Spec{Path: file}); v.Problem != "" {
			v.Path, v.Origin = file, "store"
			out = append(out, v)
		}
	}
	return out
}
