package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/daemon/cmd/internal/verbs"
	"github.com/bothyd/bothy/daemon/internal/bundle"
	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk"
)

type pluginsPackCmd struct{ verbs.PluginsPack }

// packing is what became of a pack.
type packing struct {
	File    string `json:"file"`
	Name    string `json:"name"`
	Version string `json:"version"`
	Digest  string `json:"digest"` // of the bundle, which is no digest of the archive
	Files   int    `json:"files"`
}

// Run exchanges an archive that is there whole, or not at all.
func (cmd pluginsPackCmd) Run(c *console) error {
	ctx, stop := interruptible()
	defer stop()
	done, err := pack(ctx, cmd.Dir, cmd.To)
	return report(c, done, err, func(c *console, done packing) error {
		_, err := fmt.Fprintf(c.out, "wrote %s: %s %s, %d files, sha256 %s\n", oneLine(done.File), done.Name, done.Version, done.Files, done.Digest)
		return err
	})
}

// pack asks the plugin too what it is, if it can be started here.
func pack(ctx context.Context, dir, to string) (done packing, err error) {
	if dir, err = filepath.Abs(dir); err != nil {
		return done, err
	}
	f, err := bundle.Open(dir)
	if errors.Is(err, os.ErrNotExist) {
		return done, sdk.Errorf(sdk.NotFound, "%s has no %s, which says what to pack: %w", dir, bundle.ManifestName, err)
	}
	if err != nil {
		return done, sdk.Errorf(sdk.Validation, "%s: %w", dir, err)
	}
	if to == "" {
		to = f.ArchiveName()
	}
	listing, err := f.Sum()
	if err != nil {
		return done, sdk.Errorf(sdk.Validation, "%s: %w", dir, err)
	}
	if b, other := inspect.OpenBinary(dir); other == nil {
		_ = b.Close() // it was only looked at
		if _, err := inspect.New(inspect.Config{}).Manifest(ctx, inspect.Spec{Path: dir}); err != nil {
			return done, sdk.Errorf(sdk.Validation, "%s: %w", dir, err)
		}
	}
	fresh, err := os.CreateTemp(filepath.Dir(to), ".pack-")
	if err != nil {
		return done, err
	}
	defer func() { _ = os.Remove(fresh.Name()) }() // gone when it was renamed
	if err := errors.Join(f.Pack(fresh), fresh.Chmod(0o644), fresh.Close()); err != nil {
		return done, sdk.Errorf(sdk.Validation, "%s: %w", dir, err)
	}
	if err := os.Rename(fresh.Name(), to); err != nil {
		return done, err
	}
	return packing{File: to, Name: f.Name, Version: f.Version, Digest: listing.Digest(), Files: listing.Files()}, nil
}
