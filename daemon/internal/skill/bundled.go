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
// installation, or else one below dir, of its own for each version and content, into
// which those are written that the binary carries. What is there already stays as it
// is; the folders of other versions go, but for one that another process makes at
// this moment.
func Bundled(installed string, carried fs.FS, dir, version string) (folder string, err error) {
	if isFolder(installed) {
		return installed, nil
	}
	defer func() {
		if err != nil {
			err = fmt.Errorf("unpack the skills that came with Bothy into %s: %w", dir, err)
		}
	}()
	sum, err := sumOfTree(carried)
	if err != nil {
		return "", err
	}
	folder = filepath.Join(dir, "bundled-"+version+"-"+sum[:12])
	if !isFolder(folder) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		made, err := os.MkdirTemp(dir, ".new-")
		if err != nil {
			return "", err
		}
		defer func() { _ = os.RemoveAll(made) }()
		if err := os.CopyFS(made, carried); err != nil {
			return "", err
		}
		if err := os.Rename(made, folder); err != nil && !isFolder(folder) { // else another process was faster
			return "", err
		}
	}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if e.IsDir() && e.Name() != filepath.Base(folder) && strings.HasPrefix(e.Name(), "bundled-") {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, e.Name())))
		}
	}
	return folder, err
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
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
