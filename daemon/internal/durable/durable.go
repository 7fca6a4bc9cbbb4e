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
	if err := replace(file, text, (*os.File).Sync); err != nil {
		return err
	}
	return Folder(filepath.Dir(file))
}

// Replace is Write for what a power cut may take: it does not wait for the disk.
func Replace(file string, text []byte) error {
	return replace(file, text, func(*os.File) error { return nil })
}

func replace(file string, text []byte, sync func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, sync(f), f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
