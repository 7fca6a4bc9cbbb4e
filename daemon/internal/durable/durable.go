// Package durable makes files that are there whole or not at all, after a power cut too.
package durable

import (
	"errors"
	"os"
	"path/filepath"
)

// Folder makes durable which names are in a folder: what was made, renamed or removed there
// stays so.
func Folder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Write makes a file with this text, of mode 0600, or puts it in the place of what is there:
// who reads meanwhile finds the one or the other. Its folder has to be there. After an error
// what was there still is, unless it is of the last step, the folder's own.
func Write(file string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return Folder(filepath.Dir(file))
}
