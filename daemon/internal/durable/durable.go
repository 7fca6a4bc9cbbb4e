// Package durable makes files that are there whole or not at all, after a power cut too.
package durable

import (
	"errors"
	"io/fs"
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
	return Exchange(file, text, 0o600, func() error { return nil })
}

// Exchange is Write with another mode. Right before the file takes its place still is asked, whose
// error leaves all as it is.
func Exchange(file string, text []byte, mode fs.FileMode, still func() error) error {
	err := replace(file, text, func(f *os.File) error {
		if err := errors.Join(f.Chmod(mode), f.Sync()); err != nil {
			return err
		}
		return still()
	})
	if err != nil {
		return err
	}
	return Folder(filepath.Dir(file))
}

// Replace is Write for what a power cut may take: it does not wait for the disk.
func Replace(file string, text []byte) error {
	return replace(file, text, func(*os.File) error { return nil })
}

// replace puts a file in its place once ready has found nothing wrong with it.
func replace(file string, text []byte, ready func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+"-*")
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err == nil {
		err = ready(f)
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
