package project

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// renameNew gives a name in one open folder another in a second, which must not
// be taken: then the error is fs.ErrExist.
func renameNew(from *os.Root, base string, to *os.Root, name string) error {
	source, err := from.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // nothing was written through it
	target, err := to.Open(".")
	if err != nil {
		return err
	}
	defer func() { _ = target.Close() }() // nothing was written through it
	err = renameExclusive(int(source.Fd()), base, int(target.Fd()), name)
	if !errors.Is(err, unix.EINVAL) && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.ENOTSUP) {
		return err
	}
	// The file system cannot do both at once.
	if _, err := to.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
		if err == nil {
			err = fs.ErrExist
		}
		return err
	}
	return unix.Renameat(int(source.Fd()), base, int(target.Fd()), name)
}
