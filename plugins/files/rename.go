package main

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// rename moves a name from one open folder to a name in another. Unlike
// os.Root.Rename it walks no path on which a link could be swapped in, and
// without overwrite it refuses what is there in the same step.
func rename(from *os.Root, base string, to *os.Root, name string, overwrite bool) error {
	source, err := from.Open(".")
	if err != nil {
		return err
	}
	defer closeRead(source)
	target, err := to.Open(".")
	if err != nil {
		return err
	}
	defer closeRead(target)
	if overwrite {
		return unix.Renameat(int(source.Fd()), base, int(target.Fd()), name)
	}
	err = renameNew(int(source.Fd()), base, int(target.Fd()), name)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	// The file system cannot do both at once.
	if _, err := to.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = unix.EEXIST
		}
		return err
	}
	return unix.Renameat(int(source.Fd()), base, int(target.Fd()), name)
}
