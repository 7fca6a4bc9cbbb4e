package sandbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// digestOf is a digest of all that lies at and below a path in a folder: names,
// modes, targets of links and contents. Of what is not there it is that of nothing.
func digestOf(folder, path string) (string, error) {
	sum := sha256.New()
	root, err := os.OpenRoot(folder)
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // it was only read
	err = fs.WalkDir(root.FS(), path, func(at string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(path, at)
		if err != nil {
			return err
		}
		fmt.Fprintf(sum, "%q %o %d\n", rel, info.Mode(), lengthOf(info))
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := root.Readlink(at)
			fmt.Fprintf(sum, "%q\n", target)
			return err
		case info.Mode().IsRegular():
			return addFile(sum, root, at)
		}
		return nil
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// lengthOf is the size of a file; that of anything else is the file system's own.
func lengthOf(info fs.FileInfo) int64 {
	if info.Mode().IsRegular() {
		return info.Size()
	}
	return 0
}

func addFile(sum io.Writer, root *os.Root, at string) error {
	f, err := root.Open(at)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	_, err = io.Copy(sum, f)
	return err
}
