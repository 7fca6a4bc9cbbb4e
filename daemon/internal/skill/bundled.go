package skill

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Bundled returns the folder of the skills that came with Bothy: that of the
// installation, or else one below dir that those which the binary carries are
// unpacked into.
func Bundled(installed string, carried fs.FS, dir, version string) (string, error) {
	if isFolder(installed) {
		return installed, nil
	}
	return Unpack(carried, dir, version)
}

// Unpack writes the skills that the binary carries into a folder below dir, of
// its own for each version and content of them, and returns that. What is there
// already stays as it is; the folders of other versions go, but for one that
// another process makes at this moment.
func Unpack(carried fs.FS, dir, version string) (string, error) {
	sum, err := sumOfTree(carried)
	if err != nil {
		return "", fmt.Errorf("read the skills that came with Bothy: %w", err)
	}
	name := "bundled-" + version + "-" + sum[:12]
	folder := filepath.Join(dir, name)
	if isFolder(folder) {
		return folder, sweep(dir, name)
	}
	err = os.MkdirAll(dir, 0o700)
	var made string
	if err == nil {
		made, err = os.MkdirTemp(dir, ".new-")
	}
	if err == nil {
		defer func() { _ = os.RemoveAll(made) }()
		err = os.CopyFS(made, carried)
	}
	if err == nil {
		err = os.Rename(made, folder)
	}
	if err != nil && !isFolder(folder) { // else another process was faster
		return "", fmt.Errorf("unpack the skills that came with Bothy into %s: %w", dir, err)
	}
	return folder, sweep(dir, name)
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// sweep removes what other versions have unpacked.
func sweep(dir, keep string) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("look for skills of other versions: %w", err)
	}
	var failed []error
	for _, e := range entries {
		if e.IsDir() && e.Name() != keep && strings.HasPrefix(e.Name(), "bundled-") {
			failed = append(failed, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	if err := errors.Join(failed...); err != nil {
		return fmt.Errorf("remove the skills of another version: %w", err)
	}
	return nil
}

func sumOfTree(tree fs.FS) (string, error) {
	sum := sha256.New()
	err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(tree, path)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%s\x00%d\x00", path, len(text))
		sum.Write(text)
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}
