package main

import (
	"crypto/rand"
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/bothyd/bothy/sdk"
)

// temporary is a name beside the final one, so that a rename stays within one
// file system and is atomic.
func temporary() string { return ".bothy-" + rand.Text() + ".tmp" }

// replace writes a whole new file at the place, or leaves everything as it was.
// fill writes the contents. What was there keeps its mode; was, when it is not
// nil, must still be what is there, and where nothing was nothing may be by then.
func (pl *place) replace(was fs.FileInfo, fill func(*os.File) error) (err error) {
	if pl.info != nil {
		if err := pl.writable(); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o666) // less the umask
	if pl.info != nil {
		mode = 0o600
	}
	name := temporary()
	f, err := pl.dir.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, pl.dir.RemoveAll(name)) // which may be gone
		}
	}()
	err = fill(f)
	if err == nil && pl.info != nil {
		err = f.Chmod(pl.info.Mode().Perm())
	}
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if was != nil {
		if err := pl.unchanged(was); err != nil {
			return err
		}
	}
	if pl.still != nil {
		if err := pl.still(); err != nil {
			return err
		}
	}
	return rename(pl.dir, name, pl.dir, pl.base, pl.info != nil)
}

// filling fills a file with a text.
func filling(text string) func(*os.File) error {
	return func(f *os.File) error {
		_, err := f.WriteString(text)
		return err
	}
}

// writable refuses to replace what is no ordinary file, and a file whose owner
// took the right to write from it: a rename would not ask.
func (pl *place) writable() error {
	if err := wantRegular(pl.info, pl.path); err != nil {
		return err
	}
	if pl.info.Mode().Perm()&0o200 == 0 {
		return sdk.Errorf(sdk.Permission, "%s is read-only (mode %04o); change its mode first if it is meant to be changed", shown(pl.path), pl.info.Mode().Perm())
	}
	return nil
}

// changeableDir asks the system whether names in the folder that holds the place
// may be made, replaced and removed.
func (pl *place) changeableDir(action string) error {
	f, err := pl.dir.Open(".")
	if err == nil {
		defer closeRead(f)
		err = unix.Faccessat(int(f.Fd()), ".", unix.W_OK|unix.X_OK, unix.AT_EACCESS)
	}
	if err != nil {
		return fault(action, pl.path, err)
	}
	return nil
}

// unchanged makes sure that nobody wrote the file since it was read.
func (pl *place) unchanged(was fs.FileInfo) error {
	now, err := pl.dir.Lstat(pl.base)
	if err != nil {
		return err
	}
	if !os.SameFile(was, now) || was.Size() != now.Size() || !was.ModTime().Equal(now.ModTime()) {
		return sdk.Errorf(sdk.Conflict, "%s was changed by somebody else in the meantime; nothing was written, read it again", shown(pl.path))
	}
	return nil
}
